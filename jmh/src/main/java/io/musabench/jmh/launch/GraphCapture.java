package io.musabench.jmh.launch;

import io.musabench.jmh.device.LaunchBenchmark;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** Capturing a graph: host time, since nothing runs on the device. */
public class GraphCapture extends LaunchBenchmark {
  @Param("300")
  public int nodes;

  @Benchmark
  public void time() {
    publishHost(() -> capture(nodes).close(), 1, nodes, "host time: begin, launches, end, destroy");
  }
}
