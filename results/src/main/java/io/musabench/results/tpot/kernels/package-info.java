/**
 * How long one kernel takes: measured times from run directories of this suite, from
 * aiconfigurator's tables or from a CSV file, looked up exactly, between neighbours or beyond them;
 * and what is assumed where nothing was measured.
 */
package io.musabench.results.tpot.kernels;
