package io.musabench.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.bindings.load.LoadedLibrary;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class TargetTest {
  /** Opens the target and prints what it is, or the text of the error. */
  static final class Open {
    private Open() {}

    public static void main(String[] arguments) {
      try (Target target = Target.open()) {
        System.out.println("opened " + target + " " + target.libraries());
        System.out.println(target.kernels().library().library());
      } catch (TargetException | IllegalArgumentException failure) {
        System.out.println(failure.getMessage());
        System.exit(3);
      }
    }
  }

  @TempDir Path empty;

  private static String nativeFolder() {
    return Target.nativeFolder().orElseThrow().toString();
  }

  private static ForkedJvm.Result open(Map<String, String> properties) {
    return ForkedJvm.run(Open.class, properties, Map.of());
  }

  @Test
  void shouldOpenTheHostAndRecordWhatWasLoaded() {
    ForkedJvm.Result result =
        open(Map.of(Target.TARGET_PROPERTY, "host", Target.NATIVE_DIR_PROPERTY, nativeFolder()));
    assertThat(result.output())
        .contains("opened host")
        .contains("runtime " + realFolder() + "/libmusart_host.so")
        .contains("ffi " + realFolder() + "/libtvm_ffi_host.so")
        .contains("support " + realFolder() + "/libmusabench_support.so")
        .contains("kernels " + realFolder() + "/libmusabench_kernels_host.so");
    assertThat(result.status()).isZero();
  }

  @Test
  void shouldUseTheFfiLibraryThatIsNamed() throws Exception {
    Path named =
        Files.copy(
            Path.of(nativeFolder(), "libtvm_ffi_host.so"),
            empty.toRealPath().resolve("libtvm_ffi.so"));
    ForkedJvm.Result result =
        open(
            Map.of(
                Target.TARGET_PROPERTY,
                "host",
                Target.NATIVE_DIR_PROPERTY,
                nativeFolder(),
                Target.FFI_PROPERTY,
                named.toString()));
    assertThat(result.output()).contains("opened host").contains("ffi " + named);
    assertThat(result.status()).isZero();
  }

  private static String realFolder() {
    try {
      return Path.of(nativeFolder()).toRealPath().toString();
    } catch (java.io.IOException absent) {
      throw new AssertionError(absent);
    }
  }

  @Test
  void shouldSayWhatWasTriedAndWhatToSetWhenTheHostRuntimeIsMissing() {
    ForkedJvm.Result result =
        open(Map.of(Target.TARGET_PROPERTY, "host", Target.NATIVE_DIR_PROPERTY, empty.toString()));
    assertThat(result.status()).isEqualTo(3);
    assertThat(result.output())
        .startsWith("target host: the runtime did not load.")
        .contains("runtime " + empty + "/libmusart_host.so: no such file");
    assertThat(result.output().strip())
        .endsWith("to the folder that holds libmusart_host.so.")
        .contains("-Dmusabench.native.dir", "MUSABENCH_NATIVE_DIR");
  }

  @Test
  void shouldTryEveryNameOfTheMusaRuntime() {
    ForkedJvm.Result result = open(Map.of(Target.TARGET_PROPERTY, "musa"));
    assertThat(result.status()).isEqualTo(3);
    for (String version : List.of("", ".5", ".4", ".1.5", ".1.0")) {
      assertThat(result.output())
          .contains("runtime libmusart.so" + version + ": ")
          .contains("runtime /usr/local/musa/lib/libmusart.so" + version + ": ");
    }
    assertThat(result.output())
        .contains("cannot open shared object file")
        .contains("-Dmusabench.runtime.library", "LD_LIBRARY_PATH", "-Dmusabench.target");
  }

  @Test
  void shouldSayWhatToSetWhenTheFfiIsMissing() throws Exception {
    Files.copy(Path.of(nativeFolder(), "libmusart_host.so"), empty.resolve("libmusart_host.so"));
    ForkedJvm.Result result =
        open(Map.of(Target.TARGET_PROPERTY, "host", Target.NATIVE_DIR_PROPERTY, empty.toString()));
    assertThat(result.status()).isEqualTo(3);
    assertThat(result.output())
        .startsWith("target host: the FFI did not load.")
        .contains("ffi " + empty + "/libtvm_ffi_host.so: no such file")
        .contains("-Dmusabench.ffi.library");
  }

  @Test
  void shouldOpenWithoutKernelsAndSayWhyTheyAreMissing() {
    ForkedJvm.Result result =
        open(
            Map.of(
                Target.TARGET_PROPERTY,
                "host",
                Target.NATIVE_DIR_PROPERTY,
                nativeFolder(),
                Target.KERNELS_PROPERTY,
                "/no/such/kernels.so"));
    assertThat(result.status()).isEqualTo(3);
    assertThat(result.output())
        .startsWith("opened host")
        .contains("target host: the kernel library is not available.")
        .contains("kernels /no/such/kernels.so: no such file")
        .contains("-Dmusabench.kernels.library");
  }

  @Test
  void shouldSayWhyAFileIsNotALibrary() throws Exception {
    Path text = Files.writeString(empty.resolve("text.so"), "not a library ".repeat(10));
    ForkedJvm.Result result =
        open(Map.of(Target.TARGET_PROPERTY, "host", Target.RUNTIME_PROPERTY, text.toString()));
    assertThat(result.status()).isEqualTo(3);
    assertThat(result.output()).contains("runtime " + text + ": ").containsIgnoringCase("elf");
  }

  @Test
  void shouldSayWhichFunctionALibraryLacks() {
    ForkedJvm.Result result =
        open(
            Map.of(
                Target.TARGET_PROPERTY,
                "host",
                Target.RUNTIME_PROPERTY,
                nativeFolder() + "/libtvm_ffi_host.so"));
    assertThat(result.status()).isEqualTo(3);
    assertThat(result.output())
        .contains("lacks a function")
        .containsPattern("musa[A-Z][A-Za-z]+")
        .contains("mvn jmh");
  }

  @Test
  void shouldRefuseAnUnknownTarget() {
    ForkedJvm.Result result = open(Map.of(Target.TARGET_PROPERTY, "tpu"));
    assertThat(result.status()).isEqualTo(3);
    assertThat(result.output()).contains("'tpu'", "musa, cuda, host or auto");
  }

  @Test
  void shouldFallBackToTheHostWhenThereIsNoDevice() {
    Map<String, String> properties = new HashMap<>();
    properties.put(Target.NATIVE_DIR_PROPERTY, nativeFolder());
    ForkedJvm.Result result = open(properties);
    Target.Kind expected = Target.detect();
    assertThat(result.output()).startsWith("opened " + expected.id());
  }

  @Test
  void shouldFindTheNativeFolderByTheEnvironmentVariable() {
    ForkedJvm.Result result =
        ForkedJvm.run(
            Open.class,
            Map.of(Target.TARGET_PROPERTY, "host"),
            Map.of(Target.NATIVE_DIR_VARIABLE, nativeFolder()));
    assertThat(result.output()).startsWith("opened host");
  }

  @Test
  void shouldSurveyEveryKindOfTarget() {
    List<Target.Availability> survey = Target.survey();
    assertThat(survey).extracting(Target.Availability::kind).containsExactly(Target.Kind.values());
    for (Target.Availability one : survey) {
      assertThat(one.available()).isEqualTo(one.devices() > 0);
      assertThat(one.reason().isEmpty()).isEqualTo(one.available());
      assertThat(one.attempts()).isNotEmpty();
    }
    assertThat(survey.get(Target.Kind.HOST.ordinal()).available()).isTrue();
  }

  @Test
  void shouldListLibrariesWithDigests() {
    Target target = TestTarget.open();
    assertThat(target.libraries())
        .extracting(LoadedLibrary::role)
        .containsExactly("runtime", "ffi", "support", "kernels");
    for (LoadedLibrary library : target.libraries()) {
      assertThat(library.path()).isAbsolute().exists();
      assertThat(library.sha256()).matches("[0-9a-f]{64}");
    }
    assertThatThrownBy(() -> Target.Kind.of("gpu")).isInstanceOf(IllegalArgumentException.class);
  }
}
