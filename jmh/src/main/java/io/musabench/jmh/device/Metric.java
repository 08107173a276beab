package io.musabench.jmh.device;

import java.io.Serializable;

/**
 * One named quantity measured beside the device time, with every value kept.
 *
 * @param name dotted lower-case name, for example {@code host.launch}
 * @param unit unit of the values, for example {@code ns/op}
 * @param values one value a sample, in the order taken; never empty
 */
public record Metric(String name, String unit, double[] values) implements Serializable {}
