package io.musabench.jmh.device;

import java.io.Serializable;

/**
 * One operation of a model step, timed by itself in the same fork as the whole step.
 *
 * @param role what it does in the model, for example {@code gate_up}
 * @param kernel name of the kernel's export, for example {@code gemm}
 * @param shape shape as {@link io.musabench.results.model.KernelCall#shape} prints it
 * @param count how often one step runs it
 * @param flops floating point operations of one run
 * @param bytes bytes one run has to move, each operand counted once
 * @param nanos device time of one run, one value a round, in nanoseconds
 */
public record StepPart(
    String role, String kernel, String shape, int count, long flops, long bytes, double[] nanos)
    implements Serializable {}
