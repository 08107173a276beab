/** Collectives between the devices of one process: MCCL or NCCL. */
package io.musabench.bindings.collective;
