package io.musabench.bindings.mate;

import io.musabench.bindings.Target;
import io.musabench.bindings.TestTarget;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.opentest4j.TestAbortedException;

/** The stand-in for mate that the native build makes: a Python environment with its kernels. */
final class MateDouble {
  private static Mate mate;

  private MateDouble() {}

  static Path root() {
    return Target.nativeFolder().orElseThrow().getParent().resolve("mate-double");
  }

  static MateInstallation installation() {
    return MateInstallation.find(
        "", Map.of("VIRTUAL_ENV", root().toString(), "HOME", root().resolve("home").toString()));
  }

  /** The double's kernels on this JVM's target; the test is skipped where there are none. */
  static synchronized Mate open(Class<?> test) {
    Target target = TestTarget.require(test);
    if (!Files.isDirectory(root())) {
      throw new TestAbortedException(
          "skipped: no " + root() + "; build native with MUSABENCH_TESTS=ON");
    }
    if (mate == null) {
      mate = new Mate(target.ffi(), installation());
    }
    return mate;
  }
}
