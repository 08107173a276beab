package io.musabench.bindings.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class VendorTest {
  @Test
  void shouldReadVersionsAsTheVendorWritesThem() {
    assertThat(Vendor.MUSA.versionText(10504)).isEqualTo("1.5.4");
    assertThat(Vendor.MUSA.versionText(50100)).isEqualTo("5.1.0");
    assertThat(Vendor.CUDA.versionText(12040)).isEqualTo("12.4");
  }
}
