package io.musabench.bindings.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.bindings.ForkedJvm;
import io.musabench.bindings.Target;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Ffi;
import io.musabench.bindings.ffi.Program;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.runtime.DeviceException;
import io.musabench.bindings.runtime.Stream;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How the bindings report a device that fails. Each case breaks a process of its own. */
@Timeout(120)
class FaultTest {
  /** A small piece of work in the life of a benchmark; prints each error as it comes. */
  static final class Work {
    private Work() {}

    public static void main(String[] arguments) {
      Target target = Target.open(Target.Kind.HOST);
      Ffi ffi = target.ffi();
      PortableKernels kernels = target.kernels();
      int ids = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 0;
      try (Stream stream = ffi.runtime().createStream();
          Tensor table = ffi.allocate(DType.F16, 4, 8);
          Tensor id = ffi.allocate(DType.I32, 1);
          Tensor out = ffi.allocate(DType.F16, 1, 8)) {
        ffi.setStream(stream);
        table.copyFrom(new float[32]);
        id.copyFrom(new int[] {ids});
        Program program =
            Program.builder(ffi)
                .fill(out, (byte) 1, stream)
                .call(kernels.embedding(id, table, out))
                .synchronize(stream)
                .build();
        for (int run = 1; run <= 3; run++) {
          try {
            program.run();
            System.out.println("run " + run + " gave " + out.toFloats()[0]);
          } catch (DeviceException failure) {
            System.out.println(
                "run " + run + " sticky=" + failure.isSticky() + " " + failure.getMessage());
          }
        }
      } catch (DeviceException failure) {
        System.out.println("ended by " + failure.getMessage());
        for (Throwable more : failure.getSuppressed()) {
          System.out.println("and " + more.getMessage());
        }
      }
      System.out.println("open at the end: " + ffi.runtime().openResources());
      System.exit(0); // a device that hangs must not keep the process
    }
  }

  private static ForkedJvm.Result run(String faults, String... arguments) {
    return ForkedJvm.run(
        Work.class,
        Map.of(
            Target.NATIVE_DIR_PROPERTY,
            Target.nativeFolder().orElseThrow().toString(),
            Target.FFI_PROPERTY,
            System.getProperty(Target.FFI_PROPERTY, "")),
        Map.of("MUSART_HOST_FAULTS", faults),
        arguments);
  }

  @Test
  void shouldWorkWithoutAFault() {
    ForkedJvm.Result result = run("");
    assertThat(result.output())
        .contains("run 1 gave 0.0", "run 2 gave 0.0", "run 3 gave 0.0", "open at the end: 0");
    assertThat(result.status()).isZero();
  }

  @Test
  void shouldReportAFailedAllocationAndGiveTheRestBack() {
    ForkedJvm.Result result = run("musaMalloc:2=2");
    assertThat(result.output())
        .contains("ended by musaMalloc(4 bytes) failed: 2 musaErrorMemoryAllocation: ")
        .contains("open at the end: 0");
  }

  @Test
  void shouldNameTheRuntimeFunctionOfAProgramThatFailed() {
    ForkedJvm.Result result = run("musaMemsetAsync:2=1");
    assertThat(result.output())
        .contains("run 1 gave 0.0")
        .contains("run 2 sticky=false musaMemsetAsync failed: 1 musaErrorInvalidValue: ")
        .contains("run 3 gave 0.0")
        .contains("open at the end: 0");
  }

  @Test
  void shouldReportAStickyErrorAgainAndAgain() {
    ForkedJvm.Result result = run("kernel:embedding:2=700");
    assertThat(result.output())
        .contains("run 1 gave 0.0")
        .contains("run 2 sticky=true ")
        .contains("run 3 sticky=true ")
        .contains("700 musaErrorIllegalAddress: ");
    assertThat(result.status()).isZero(); // closing after it neither hangs nor crashes
  }

  @Test
  void shouldReportAKernelThatReadsOutsideItsTable() {
    ForkedJvm.Result result = run("", "4");
    assertThat(result.output()).contains("run 1 sticky=true ", "700 musaErrorIllegalAddress");
    assertThat(result.status()).isZero();
  }

  @Test
  void shouldLetAWrongResultBeSeen() {
    ForkedJvm.Result result = run("kernel:embedding:2=wrong");
    assertThat(result.output())
        .contains("run 1 gave 0.0")
        .contains("run 3 gave 0.0")
        .containsPattern("run 2 gave (?!0\\.0)");
  }
}
