package io.musabench.results.tpot.kernels;

/**
 * Leave-one-out error of the look-up of one operation: the relative distance, without sign, between
 * a measured time and what the look-up gives when that time is not in the table.
 *
 * @param operation for example {@code gemm}
 * @param points number of points left out, one at a time
 * @param median half of them are nearer
 * @param p90 nine in ten are nearer
 */
public record LookupError(String operation, int points, double median, double p90) {}
