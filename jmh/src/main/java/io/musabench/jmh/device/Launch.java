package io.musabench.jmh.device;

import io.musabench.bindings.ffi.CallList;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Program;
import io.musabench.bindings.runtime.GraphExec;
import io.musabench.bindings.runtime.Stream;

/** Something that can be queued on the stream any number of times: a kernel, a list or a graph. */
@FunctionalInterface
public interface Launch {
  /** Puts it at the end of a program. */
  void addTo(Program.Builder program);

  /** One kernel. */
  static Launch of(PreparedCall call) {
    return program -> program.call(call);
  }

  /** Kernels one by one. */
  static Launch of(CallList calls) {
    return program -> program.calls(calls);
  }

  /** A graph. */
  static Launch of(GraphExec graph, Stream stream) {
    return program -> program.graph(graph, stream);
  }
}
