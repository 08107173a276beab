package io.musabench.bindings.management;

import com.sun.jna.NativeLibrary;
import io.musabench.bindings.Target;
import io.musabench.bindings.runtime.Vendor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.opentest4j.TestAbortedException;

/** A copy of a stand-in for a management library: a library of its own, with its own state. */
final class ManagementDouble {
  private final Vendor vendor;
  private final Path file;

  /**
   * @param name {@code mtml}, {@code mtml_old}, {@code nvml} or {@code nvml_old}
   * @param folder where the copy goes; a new one a test
   */
  ManagementDouble(Vendor vendor, String name, Path folder) throws IOException {
    this.vendor = vendor;
    Path built =
        Target.nativeFolder()
            .orElseThrow()
            .resolveSibling("management")
            .resolve("lib" + name + ".so");
    if (!Files.exists(built)) {
      throw new TestAbortedException(
          "skipped: no " + built + "; build native with MUSABENCH_TESTS=ON");
    }
    file = Files.copy(built, folder.toRealPath().resolve(built.getFileName().toString()));
  }

  Path file() {
    return file;
  }

  DeviceMonitors.Opened open(int ordinal, String busId) {
    return DeviceMonitors.open(
        vendor, List.of(file.toString()), ordinal, Optional.ofNullable(busId));
  }

  DeviceMonitor monitor() {
    return open(0, null).monitor().orElseThrow();
  }

  void fail(String function, int code) {
    library().getFunction("double_fail").invoke(new Object[] {function, code});
  }

  int inits() {
    return library().getFunction("double_inits").invokeInt(new Object[0]);
  }

  /** The first call with arguments that no real library would take; empty if there was none. */
  String misuse() {
    return library().getFunction("double_misuse").invokeString(new Object[0], false);
  }

  private NativeLibrary library() {
    return NativeLibrary.getInstance(file.toString());
  }
}
