package io.musabench.jmh.device;

import io.musabench.bindings.ffi.DType;

/** The element types by the names that parameters use. */
public final class DTypes {
  private DTypes() {}

  /** {@code bf16} or {@code fp16}. */
  public static DType parse(String name) {
    return switch (name) {
      case "bf16" -> DType.BF16;
      case "fp16" -> DType.F16;
      default -> throw new IllegalArgumentException("dtype must be bf16 or fp16, not " + name);
    };
  }
}
