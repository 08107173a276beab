package io.musabench.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.runtime.DriverLibrary;
import io.musabench.bindings.runtime.Vendor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opentest4j.TestAbortedException;

/**
 * The MUSA target as a user meets it: two installations with the names, links and SONAMEs of real
 * ones and a Python environment with mate, all of it the host's libraries. Each test has a JVM of
 * its own, as one JVM can use one runtime.
 */
@Timeout(120)
class MusaSystemTest {
  /** Opens the target and prints what is where. */
  static final class Open {
    private Open() {}

    public static void main(String[] arguments) {
      Target.Availability musa = Target.check(Target.Kind.MUSA);
      musa.attempts().forEach(System.out::println);
      musa.runtime().ifPresent(Open::print);
      musa.driver()
          .ifPresent(
              driver ->
                  System.out.println(
                      "driver version " + driver.version() + " devices " + driver.deviceCount()));
      try (Target target = Target.open()) {
        System.out.println("opened " + target + " " + target.libraries());
        System.out.println("mate " + target.mate().installation().version());
        System.out.println("monitor " + target.monitor(0));
      } catch (TargetException failure) {
        System.out.println(failure.getMessage());
        System.exit(3);
      }
    }

    private static void print(RuntimeChoice choice) {
      System.out.println("taken " + choice.library().path() + " version " + choice.version());
      System.out.println("because " + choice.reason());
      choice.others().forEach(other -> System.out.println("not " + other));
      System.out.println("warning " + choice.warning());
    }
  }

  private final Map<String, String> properties = new HashMap<>();
  private final Map<String, String> environment = new HashMap<>();
  private Path build;
  private Path local;

  @BeforeEach
  void findTree() throws IOException {
    build = Target.nativeFolder().orElseThrow().toRealPath().getParent();
    local = build.resolve("musa-double/usr/local");
    if (!Files.isDirectory(local)) {
      throw new TestAbortedException(
          "skipped: no " + local + "; build native with MUSABENCH_TESTS=ON");
    }
    properties.put(Target.NATIVE_DIR_PROPERTY, build.resolve("lib").toString());
    properties.put(Target.TARGET_PROPERTY, "musa");
    properties.put(
        Target.KERNELS_PROPERTY, build.resolve("lib/libmusabench_kernels_host.so").toString());
    environment.put("VIRTUAL_ENV", build.resolve("mate-double").toString());
  }

  private String open() {
    ForkedJvm.Result result = ForkedJvm.run(Open.class, properties, environment);
    assertThat(result.status()).as(result.output()).isZero();
    return result.output();
  }

  @Test
  void findsEverythingInTheInstallationThatIsNamed() {
    properties.put(Target.MUSA_HOME_PROPERTY, local.resolve("musa").toString());
    assertThat(open())
        .contains("taken " + local + "/musa-5.1.0/lib/libmusart.so.5.1.0")
        .contains("because the first that loaded in -Dmusabench.musa.home")
        .contains("driver version OptionalInt[50100] devices OptionalInt[2]")
        .contains("driver " + local + "/musa-5.1.0/lib/libmusa.so.5.1.0")
        .contains("runtime " + local + "/musa-5.1.0/lib/libmusart.so.5.1.0")
        .contains(
            "ffi " + build + "/mate-double/lib/python3.10/site-packages/tvm_ffi/lib/libtvm_ffi.so")
        .contains("mate 0.2.2");
  }

  @Test
  void takesTheVersionThatTheLoaderFindsAndNamesTheOther() {
    environment.put("LD_LIBRARY_PATH", local + "/musa-4.3.6/lib");
    environment.put("MUSA_HOME", local.resolve("musa").toString());
    assertThat(open())
        .contains("taken " + local + "/musa-4.3.6/lib/libmusart.so.4.3.6")
        .contains("LD_LIBRARY_PATH first")
        .contains("not Other[file=" + local + "/musa-5.1.0/lib/libmusart.so.5.1.0, version=5.1.0]")
        .containsPattern(
            "warning 2 runtimes on this machine: measured with .*4.3.6 .*, not with .*5.1.0")
        .contains("driver " + local + "/musa-4.3.6/lib/libmusa.so.4.3.6");
  }

  @Test
  void findsTheInstallationThatTheEnvironmentNamesWithoutTheLoader() {
    environment.put("MUSA_HOME", local.resolve("musa-4.3.6").toString());
    assertThat(open())
        .contains("taken " + local + "/musa-4.3.6/lib/libmusart.so.4.3.6")
        .contains("the system's loader found none");
  }

  @Test
  void needsTheDriversLibraryBeforeTheRuntime() {
    properties.put(Target.RUNTIME_PROPERTY, local + "/musa/lib/libmusart.so.5");
    ForkedJvm.Result result = ForkedJvm.run(Open.class, properties, environment);
    assertThat(result.status()).isEqualTo(3);
    assertThat(result.output()).contains("libmusa.so.1: cannot open shared object file");

    properties.put(Target.DRIVER_PROPERTY, local + "/musa/lib/libmusa.so.1");
    assertThat(open()).contains("opened musa").contains("because named by -D");
  }

  @Test
  void readsTheCardThroughTheManagementLibrary() {
    properties.put(Target.MUSA_HOME_PROPERTY, local.resolve("musa").toString());
    properties.put(
        "musabench.management.library", build.resolve("management/libmtml.so").toString());
    assertThat(open()).containsPattern("monitor Opened\\[monitor=Optional\\[.*note=\\]");
  }

  @Test
  void asksTheDriverByTheNamesThatTakeWholeAddresses() {
    DriverLibrary driver =
        DriverLibrary.load(
                new LibraryLoader(), Vendor.MUSA, List.of(local + "/musa-4.3.6/lib/libmusa.so.1"))
            .orElseThrow();
    assertThat(driver.version()).hasValue(40306);
    assertThat(driver.deviceCount()).hasValue(2);
    assertThat(driver.find("NoSuchFunction")).isEmpty();
    // The plain names abort.
    try (Memory address = new Memory(8)) {
      address.setLong(0, 0);
      assertThat(call(driver, "MemAlloc", address, 64L)).isZero();
      assertThat(address.getLong(0)).isNotZero();
      assertThat(call(driver, "MemFree", address.getLong(0))).isZero();
    }
  }

  private static int call(DriverLibrary driver, String name, Object... arguments) {
    return Function.getFunction(new Pointer(driver.find(name).orElseThrow())).invokeInt(arguments);
  }
}
