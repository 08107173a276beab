package io.musabench.jmh.launch;

import io.musabench.bindings.runtime.Graph;
import io.musabench.jmh.device.LaunchBenchmark;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;

/** Making a captured graph executable: host time, since nothing runs on the device. */
public class GraphInstantiate extends LaunchBenchmark {
  @Param("300")
  public int nodes;

  private Graph graph;

  @Override
  protected void prepare() {
    super.prepare();
    graph = capture(nodes);
  }

  @Benchmark
  public void time() {
    publishHost(() -> graph.instantiate().close(), 1, nodes, "host time: instantiate and destroy");
  }
}
