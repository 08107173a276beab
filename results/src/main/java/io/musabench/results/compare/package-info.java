/**
 * Whether a candidate is slower than its base: reading two measurements, judging each case, and
 * printing the verdicts. The fork is the unit, because values of one process share what that
 * process had in common.
 */
package io.musabench.results.compare;
