/**
 * What a model asks of a device: its configuration, its share on one tensor-parallel rank, the
 * operations of one step, and the floating-point operations and bytes of each.
 */
package io.musabench.results.model;
