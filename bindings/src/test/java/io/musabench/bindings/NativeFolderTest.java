package io.musabench.bindings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose libraries are taken. */
class NativeFolderTest {
  /** Runs in a process of its own, because the working directory is one of the process. */
  public static final class Print {
    private Print() {}

    /** Prints the folder. */
    public static void main(String[] arguments) {
      System.out.println(Target.nativeFolder().orElseThrow());
    }
  }

  @Test
  void shouldBeOfTheCheckoutThatTheClassesAreOfWhereverTheCallerStands(@TempDir Path other)
      throws IOException {
    assumeTrue(
        System.getenv(Target.NATIVE_DIR_VARIABLE) == null
            && System.getProperty(Target.NATIVE_DIR_PROPERTY) == null
            && Target.nativeFolder().isPresent(),
        "skipped: the native libraries are not built here");
    Files.createDirectories(other.resolve("native/target/build/lib"));
    ProcessBuilder child =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            Print.class.getName());
    Process process = child.directory(other.toFile()).redirectErrorStream(true).start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertThat(Path.of(output)).isEqualTo(Target.nativeFolder().orElseThrow());
  }
}
