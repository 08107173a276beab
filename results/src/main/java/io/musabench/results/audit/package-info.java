/**
 * Whether the numbers of an end-to-end table of a service can all be true: Little's law, the order
 * of percentiles, goodput against the percentiles, TPOT against the roofs of the device, units.
 *
 * <p>What arithmetic forbids and what only an assumption forbids are kept apart, and each
 * assumption is named.
 */
package io.musabench.results.audit;
