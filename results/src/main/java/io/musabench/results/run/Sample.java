package io.musabench.results.run;

/**
 * One measured value.
 *
 * @param caseId {@link CaseResult#id} of its case
 * @param metric what was measured, for example {@code device.time}
 * @param fork number of the fork, from 1
 * @param iteration number of the iteration in its fork, from 1
 * @param index number of the sample in its iteration, from 0
 * @param value the value
 * @param unit unit of the value, for example {@code ns/op}
 */
public record Sample(
    String caseId, String metric, int fork, int iteration, int index, double value, String unit) {}
