package io.musabench.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opentest4j.TestAbortedException;

/** NVIDIA's own runtime library, where it is installed; most such machines have no GPU. */
@Timeout(120)
class CudaRuntimeLibraryTest {
  private Target.Availability cuda;

  @BeforeEach
  void load() {
    cuda = Target.check(Target.Kind.CUDA);
    if (cuda.runtime().isEmpty()) {
      throw new TestAbortedException("skipped: no libcudart on this machine");
    }
  }

  @Test
  void tellsItsVersion() {
    RuntimeChoice choice = cuda.runtime().orElseThrow();
    assertThat(choice.version()).matches("\\d+\\.\\d+");
    assertThat(choice.library().sha256()).matches("[0-9a-f]{64}");
    assertThat(choice.library().path()).isAbsolute();
  }

  @Test
  void saysInOneLineWhyThereIsNoDevice() {
    if (cuda.available()) {
      throw new TestAbortedException("skipped: there is a GPU");
    }
    assertThat(cuda.reason()).matches("cudaGetDeviceCount failed: \\d+ cudaError\\w+: \\S.*");

    ForkedJvm.Result result = open(Map.of(Target.TARGET_PROPERTY, "cuda"));
    assertThat(result.status()).isEqualTo(3);
    assertThat(List.of(result.output().split("\n")).get(0))
        .isEqualTo("target cuda: " + cuda.reason() + ".");
    assertThat(result.output()).doesNotContain("\tat ");
  }

  @Test
  void leavesTheHostToTheDefaultWhereThereIsNoDevice() {
    if (cuda.available()) {
      throw new TestAbortedException("skipped: there is a GPU");
    }
    ForkedJvm.Result result =
        open(
            Map.of(
                Target.NATIVE_DIR_PROPERTY,
                Target.nativeFolder().map(Path::toString).orElseThrow()));
    assertThat(result.output()).startsWith("opened host");
    assertThat(result.status()).isZero();
  }

  private static ForkedJvm.Result open(Map<String, String> properties) {
    return ForkedJvm.run(TargetTest.Open.class, properties, Map.of());
  }
}
