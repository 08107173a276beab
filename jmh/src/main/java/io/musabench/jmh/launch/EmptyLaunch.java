package io.musabench.jmh.launch;

import io.musabench.jmh.device.Launch;
import io.musabench.jmh.device.LaunchBenchmark;
import org.openjdk.jmh.annotations.Benchmark;

/** Kernels that do nothing, launched one by one: the shortest time between two of them. */
public class EmptyLaunch extends LaunchBenchmark {
  @Benchmark
  public void time() {
    publishDevice(Launch.of(empty()), 1, "launched one after another");
  }
}
