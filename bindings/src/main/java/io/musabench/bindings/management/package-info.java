/**
 * What a device says about itself beside the runtime: clocks, temperature, power, memory, errors,
 * links and the processes on it. libmtml on MUSA, NVML on NVIDIA, the kernel's files on the host.
 *
 * <p>Nothing here is needed to measure. What a library cannot tell is empty, never zero, and a
 * library that is not there is a note.
 */
package io.musabench.bindings.management;
