package io.musabench.jmh.launch;

import io.musabench.bindings.runtime.Graph;
import io.musabench.bindings.runtime.GraphExec;
import io.musabench.jmh.device.Launch;
import io.musabench.jmh.device.LaunchBenchmark;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** Replaying a graph of kernels that do nothing. */
public class GraphReplay extends LaunchBenchmark {
  @Param("300")
  public int nodes;

  private GraphExec exec;

  @Override
  protected void prepare() {
    super.prepare();
    try (Graph graph = capture(nodes)) {
      exec = graph.instantiate();
    }
    exec.upload(context().stream());
  }

  @Benchmark
  public void time() {
    publishDevice(Launch.of(exec, context().stream()), nodes, "one replay of the whole graph");
  }
}
