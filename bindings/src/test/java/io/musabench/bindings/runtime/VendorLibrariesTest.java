package io.musabench.bindings.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class VendorLibrariesTest {
  private static final String PROPERTY = "musabench.test.library";
  private static final List<String> USUAL =
      List.of("libmublas.so", "libmublas.so.1", "/usr/local/musa/lib/libmublas.so");

  private String before;

  @BeforeEach
  void clear() {
    before = System.getProperty(VendorLibraries.MUSA_HOME_PROPERTY);
    System.clearProperty(VendorLibraries.MUSA_HOME_PROPERTY);
  }

  @AfterEach
  void restore() {
    System.clearProperty(PROPERTY);
    System.clearProperty(VendorLibraries.MUSA_HOME_PROPERTY);
    if (before != null) {
      System.setProperty(VendorLibraries.MUSA_HOME_PROPERTY, before);
    }
  }

  private static List<String> candidates(Vendor vendor) {
    return VendorLibraries.candidates(vendor, PROPERTY, USUAL);
  }

  @Test
  void shouldTryTheUsualPlacesWhereNothingIsNamed() {
    assertThat(candidates(Vendor.MUSA)).isEqualTo(USUAL);
  }

  @Test
  void shouldTryTheNamedInstallationFirst() {
    System.setProperty(VendorLibraries.MUSA_HOME_PROPERTY, "/opt/musa");
    assertThat(candidates(Vendor.MUSA))
        .containsExactly(
            "/opt/musa/lib/libmublas.so",
            "/opt/musa/lib/libmublas.so.1",
            "/opt/musa/lib64/libmublas.so",
            "/opt/musa/lib64/libmublas.so.1",
            "libmublas.so",
            "libmublas.so.1",
            "/usr/local/musa/lib/libmublas.so");
    assertThat(candidates(Vendor.CUDA)).isEqualTo(USUAL);
  }

  @Test
  void shouldTryNothingButTheLibraryThatIsNamed() {
    System.setProperty(VendorLibraries.MUSA_HOME_PROPERTY, "/opt/musa");
    System.setProperty(PROPERTY, "/x/libmublas.so");
    assertThat(candidates(Vendor.MUSA)).containsExactly("/x/libmublas.so");
  }
}
