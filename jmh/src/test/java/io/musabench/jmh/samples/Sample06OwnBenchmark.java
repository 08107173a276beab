package io.musabench.jmh.samples;

import io.musabench.jmh.device.Inputs;
import io.musabench.jmh.device.KernelBenchmark;
import io.musabench.jmh.device.KernelCase;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/**
 * A benchmark of one's own: the parameters, one method that samples, and how to make the kernel's
 * operands. What it inherits copies the operands until no cache holds them, checks the kernel
 * against the reference before and after, takes device time, and knows the roof.
 *
 * <p>In a package below {@code io.musabench.jmh} in {@code jmh/src/main/java} it is found by {@code
 * musabench list} and run by its name.
 */
public class Sample06OwnBenchmark extends KernelBenchmark {
  @Param("256")
  public int tokens;

  @Benchmark
  public void time() {
    sample();
  }

  @Override
  protected KernelCase build(Inputs inputs) {
    int size = 3072;
    return inputs
        .cases()
        .siluAndMul(inputs.random(1, tokens, 2 * size), inputs.output(tokens, size));
  }
}
