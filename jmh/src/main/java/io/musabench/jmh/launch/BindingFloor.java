package io.musabench.jmh.launch;

import io.musabench.bindings.ffi.Program;
import io.musabench.jmh.device.LaunchBenchmark;
import org.openjdk.jmh.annotations.Benchmark;

/** What a call through this harness costs by itself: from Java into a native loop and back. */
public class BindingFloor extends LaunchBenchmark {
  // One crossing takes less than the host's clock resolves well.
  private static final int CROSSINGS = 1000;

  private Program nothing;

  @Override
  protected void prepare() {
    super.prepare();
    nothing = Program.builder(context().target().ffi()).build();
    for (int i = 0; i < 20 * CROSSINGS; i++) {
      nothing.run(); // Until the JIT compiler has seen to it.
    }
  }

  @Benchmark
  public void time() {
    publishHost(
        () -> {
          for (int i = 0; i < CROSSINGS; i++) {
            nothing.run();
          }
        },
        CROSSINGS,
        0,
        "host time: one crossing into native code that does nothing");
  }
}
