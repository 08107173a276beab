package io.musabench.jmh.device;

import io.musabench.bindings.ffi.FfiException;
import io.musabench.bindings.runtime.DeviceException;
import io.musabench.bindings.runtime.ErrorCode;
import java.util.Optional;

/** Tells errors of a fork that would not have come with more memory, of the device or the host. */
public final class MemoryShortage {
  // What allocators that kernels call raise.
  private static final String MEMORY_ERROR = "MemoryError";

  private MemoryShortage() {}

  /** Whether this says that there was no memory; its causes are not looked at. */
  public static boolean shownBy(Throwable thrown) {
    if (thrown instanceof DeviceException failed) {
      return failed.errorCode().equals(Optional.of(ErrorCode.MEMORY_ALLOCATION));
    }
    return thrown instanceof OutOfMemoryError
        || thrown instanceof FfiException refused && refused.kind().equals(MEMORY_ERROR);
  }
}
