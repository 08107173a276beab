package io.musabench.bindings.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.musabench.bindings.TestTarget;
import io.musabench.bindings.kernels.PortableKernels;
import io.musabench.bindings.runtime.DeviceRuntime;
import io.musabench.bindings.runtime.Event;
import io.musabench.bindings.runtime.Graph;
import io.musabench.bindings.runtime.GraphExec;
import io.musabench.bindings.runtime.Stream;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What stands in a timed path allocates nothing, so that no collection falls into a sample. */
class HotPathTest {
  private static final int CALLS = 2000;

  private final Ffi ffi = TestTarget.open().ffi();
  private final DeviceRuntime runtime = ffi.runtime();
  private final PortableKernels kernels = TestTarget.open().kernels();
  private Stream stream;
  private Event start;
  private Event stop;
  private Tensor out;

  @BeforeEach
  void open() {
    stream = runtime.createStream();
    start = runtime.createEvent();
    stop = runtime.createEvent();
    out = ffi.allocate(DType.F32, 64);
    ffi.setStream(stream);
  }

  @AfterEach
  void close() {
    ffi.setStream(runtime.legacyStream());
    out.close();
    stop.close();
    start.close();
    stream.close();
  }

  private void assertAllocatesNothing(Runnable call) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int i = 0; i < CALLS; i++) {
      call.run(); // first calls link, and may allocate
    }
    stream.synchronize();
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < CALLS; i++) {
      call.run();
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    stream.synchronize();
    // The measurement itself may cost an object or two; one a call would be far more.
    assertThat(allocated).isLessThan(CALLS);
  }

  @Test
  void theMeasurementShouldSeeAnAllocation() {
    Object[] sink = new Object[1];
    org.assertj.core.api.Assertions.assertThatThrownBy(
            () -> assertAllocatesNothing(() -> sink[0] = new byte[16]))
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void launchShouldAllocateNothing() {
    assertAllocatesNothing(kernels.empty()::launch);
    assertAllocatesNothing(kernels.randomFill(out, 1, 1)::launch);
  }

  @Test
  void listsAndProgramsShouldAllocateNothing() {
    PreparedCall fill = kernels.randomFill(out, 1, 1);
    assertAllocatesNothing(new CallList(List.of(fill, fill))::launch);
    Program program =
        Program.builder(ffi).record(start, stream).call(fill, 3).record(stop, stream).build();
    assertAllocatesNothing(program::run);
    assertAllocatesNothing(program::runTimed);
  }

  @Test
  void eventsAndGraphsShouldAllocateNothing() {
    assertAllocatesNothing(() -> start.record(stream));
    assertAllocatesNothing(stream::synchronize);
    stop.record(stream);
    stream.synchronize();
    assertAllocatesNothing(() -> stop.millisecondsSince(start));
    try (Graph graph = runtime.capture(stream, kernels.randomFill(out, 1, 1)::launch);
        GraphExec exec = graph.instantiate()) {
      assertAllocatesNothing(() -> exec.launch(stream));
    }
  }
}
