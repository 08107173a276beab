package io.musabench.bindings.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.musabench.bindings.ForkedJvm;
import io.musabench.bindings.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SignalHandlersTest {
  /** Loads the library it is given, then does what the JVM does by means of SIGSEGV. */
  static final class LoadAndDereferenceNull {
    private int value;

    private LoadAndDereferenceNull() {}

    private static int valueOf(LoadAndDereferenceNull object) {
      return object.value;
    }

    public static void main(String[] arguments) {
      new LibraryLoader().load("test", List.of(arguments)).orElseThrow();
      LoadAndDereferenceNull object = new LoadAndDereferenceNull();
      long sum = 0;
      for (int i = 0; i < 200_000; i++) { // until it is compiled, its null check a memory access
        sum += valueOf(object);
      }
      int caught = 0;
      for (int i = 0; i < 3; i++) {
        try {
          sum += valueOf(null);
        } catch (NullPointerException expected) {
          caught++;
        }
      }
      System.out.println("caught " + caught + ", sum " + sum);
    }
  }

  @Test
  void shouldKeepTheJvmsHandlersWhenALibraryInstallsItsOwn() {
    Path library =
        Target.nativeFolder().map(dir -> dir.resolve("libmusabench_signal_test.so")).orElse(null);
    assumeTrue(
        library != null && Files.exists(library),
        "skipped: no " + library + "; build native with MUSABENCH_TESTS=ON");
    ForkedJvm.Result result =
        ForkedJvm.run(LoadAndDereferenceNull.class, Map.of(), Map.of(), library.toString());
    assertThat(result.output()).contains("caught 3, sum 0");
    assertThat(result.status()).isZero();
  }
}
