/**
 * Result files of LLM serving benchmark tools, read into one canonical record, and the metrics of a
 * service computed from them by formulas that have names.
 *
 * <p>{@link io.musabench.results.serving.ServingFiles} reads, {@link
 * io.musabench.results.serving.Analysis} computes, {@link
 * io.musabench.results.serving.ServingReport} prints. Missing stays missing: a quantity that a file
 * does not hold is {@code NaN} (or -1 for a count) on the way and {@code null} in the output, never
 * zero.
 */
package io.musabench.results.serving;
