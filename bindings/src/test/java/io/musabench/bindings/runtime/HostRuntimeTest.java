package io.musabench.bindings.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.musabench.bindings.Target;
import io.musabench.bindings.TestTarget.On;
import org.junit.jupiter.api.Test;

@SuppressWarnings("try") // closes before the end of the block are the point
@On(Target.Kind.HOST)
class HostRuntimeTest extends RuntimeContractTest {
  @Test
  void shouldGiveAllMemoryBack() {
    long before = liveAllocations();
    try (Stream stream = runtime.createStream()) {
      DeviceMemory inCapture = runtime.allocate(64);
      DeviceMemory block = runtime.allocate(1000);
      HostMemory host = runtime.allocateHost(1000);
      assertThat(liveAllocations()).isEqualTo(before + 3);
      Graph graph =
          runtime.capture(
              stream,
              () -> {
                block.fill((byte) 1, stream);
                inCapture.close();
                assertThat(liveAllocations()).isEqualTo(before + 3); // put off
              });
      assertThat(liveAllocations()).isEqualTo(before + 2);
      try (graph;
          GraphExec exec = graph.instantiate()) {
        exec.launch(stream);
        host.close();
        block.close();
        block.close();
      }
    }
    assertThat(liveAllocations()).isEqualTo(before);
  }

  @Test
  void shouldKeepAGraphUntilItsLastExecutableIsClosed() {
    try (Stream stream = runtime.createStream();
        DeviceMemory block = runtime.allocate(64)) {
      Graph graph = runtime.capture(stream, () -> block.fill((byte) 1, stream));
      long handle = graph.handle();
      GraphExec first = graph.instantiate();
      GraphExec second = graph.instantiate();
      graph.close();
      first.close();
      assertThat(nodes(handle)).isZero(); // MUSA's executables need it
      second.launch(stream);
      stream.synchronize();
      second.close();
      assertThat(nodes(handle)).isEqualTo(ErrorCode.INVALID_VALUE.code());
    }
    RuntimeNatives.getLastError();
  }

  /** What the runtime says when it is asked for a graph's nodes: 0 as long as the graph lives. */
  private static int nodes(long graph) {
    try (Memory count = new Memory(8)) {
      return RuntimeNatives.graphGetNodes(graph, 0, Pointer.nativeValue(count));
    }
  }

  private long liveAllocations() {
    try (Memory out = new Memory(16)) {
      Pointer function = new Pointer(runtime.functionAddress("hostLiveAllocations"));
      assertThat(Function.getFunction(function).invokeInt(new Object[] {0, out, out.share(8)}))
          .isZero();
      return out.getLong(0);
    }
  }
}
