package io.musabench.jmh.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.bindings.ffi.FfiException;
import io.musabench.bindings.runtime.DeviceException;
import org.junit.jupiter.api.Test;

class MemoryShortageTest {
  @Test
  void shouldBeToldFromOtherErrors() {
    assertThat(MemoryShortage.shownBy(new DeviceException("musaMalloc", 2, "", ""))).isTrue();
    assertThat(MemoryShortage.shownBy(new FfiException("MemoryError", "", "gemm"))).isTrue();
    assertThat(MemoryShortage.shownBy(new OutOfMemoryError())).isTrue();
    assertThat(MemoryShortage.shownBy(new DeviceException("musaMalloc", 700, "", ""))).isFalse();
    assertThat(MemoryShortage.shownBy(new FfiException("ValueError", "", "gemm"))).isFalse();
    assertThat(MemoryShortage.shownBy(new IllegalStateException("out of memory"))).isFalse();
  }
}
