package io.musabench.jmh.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.jmh.cli.MusabenchProcess;
import io.musabench.results.model.Work;
import io.musabench.results.stopping.Stopping;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How sessions are checked, on a kernel whose input the test changes behind the timer's back. */
class KernelTimerTest {
  private static final SessionLimits SHORT =
      new SessionLimits(0.001, 0.01, 2, 10, new Stopping("stdrel:1%"));

  private DeviceContext context;
  private Tensor input;
  private int checks;
  private Runnable onCheck = () -> {};

  @BeforeEach
  void open() {
    MusabenchProcess.requireNativeLibraries();
    context = DeviceContext.open();
  }

  @AfterEach
  void close() {
    if (context != null) {
      context.close();
    }
  }

  private KernelTimer timer() {
    return new KernelTimer(
        context,
        "hot",
        index -> {
          Inputs inputs = new Inputs(context, DType.BF16, 1);
          input = inputs.random(1, 4, 64);
          Tensor out = inputs.output(4, 64);
          KernelCase kernel =
              new KernelCase(
                  "t=4 h=64",
                  new Work(0, input.bytes() + out.bytes()),
                  context.kernels().rmsNorm(input, inputs.random(1, 64), out, 1e-6),
                  List.of(out),
                  () -> {
                    checks++;
                    onCheck.run();
                    return Agreement.NONE;
                  });
          return new KernelTimer.Copy(kernel, inputs.bytes(), inputs.ownBytes());
        });
  }

  /** Copies with weights of their own and everything else in common. */
  private KernelTimer stepTimer(List<KernelCase> made) {
    Inputs.Activations activations = new Inputs.Activations();
    return new KernelTimer(
        context,
        "step",
        index -> {
          Inputs inputs = new Inputs(context, DType.BF16, 1 + index, activations);
          input = inputs.activation(4, 64);
          KernelCase kernel =
              inputs
                  .cases()
                  .gemm(input, inputs.projection(1 << 14, 64), inputs.output(4, 1 << 14), null);
          made.add(kernel);
          return new KernelTimer.Copy(kernel, inputs.bytes(), inputs.ownBytes());
        });
  }

  @Test
  void shouldTakeTurnsOverWeightsInAStepAndKeepActivationsWhereTheyAre() {
    List<KernelCase> made = new ArrayList<>();
    try (KernelTimer timer = stepTimer(made)) {
      Tensor first = input;
      timer.verify();
      timer.run(SHORT);
      timer.verifyAgain();
      // 2 MiB of weights each, and 256 MiB push a copy out of any cache.
      assertThat(made).hasSizeGreaterThan(100);
      assertThat(input).isSameAs(first);
      assertThat(made)
          .allSatisfy(copy -> assertThat(copy.outputs()).isEqualTo(made.get(0).outputs()));
      assertThat(made.stream().mapToLong(copy -> run(copy)).distinct().count())
          .isEqualTo(made.size());
    }
  }

  private long run(KernelCase copy) {
    copy.call().launch();
    context.synchronize();
    return copy.checksum();
  }

  @Test
  void shouldFindAWrongResultOfTheLastLaunchWhereCopiesShareTheirOutput() {
    try (KernelTimer timer = stepTimer(new ArrayList<>())) {
      timer.verify();
      timer.run(SHORT);
      changeInput();
      assertThatThrownBy(() -> timer.run(SHORT))
          .isInstanceOf(WrongResultException.class)
          .hasMessageContaining("did not write what an untimed one did");
    }
  }

  private static double sameBits(LaunchTimer.Sampled sampled) {
    return sampled.metrics().stream()
        .filter(metric -> metric.name().equals(Agreement.SAME_BITS))
        .findFirst()
        .orElseThrow()
        .values()[0];
  }

  private void changeInput() {
    context.kernels().randomFill(input, checks + 7, 1).launch();
    context.synchronize();
  }

  @Test
  void shouldFindASessionWhoseResultsDifferInBitsThoughTheReferenceAgrees() {
    try (KernelTimer timer = timer()) {
      timer.verify();
      assertThat(sameBits(timer.run(SHORT))).isEqualTo(1);
      assertThat(sameBits(timer.run(SHORT))).isEqualTo(1);
      changeInput();
      assertThatThrownBy(() -> timer.run(SHORT))
          .isInstanceOf(WrongResultException.class)
          .hasMessageContaining("did not write what an untimed one did");
    }
  }

  @Test
  void shouldComputeTheReferenceBeforeAndAfterOnlyWhereBitsRepeat() {
    try (KernelTimer timer = timer()) {
      timer.verify();
      assertThat(checks).isEqualTo(1);
      timer.run(SHORT);
      assertThat(checks).isEqualTo(1);
      timer.verifyAgain();
      assertThat(checks).isEqualTo(2);
    }
  }

  @Test
  void shouldHoldSessionsAgainstTheReferenceWhereRunsDifferInBits() {
    onCheck = this::changeInput;
    try (KernelTimer timer = timer()) {
      timer.verify();
      int before = checks;
      assertThat(sameBits(timer.run(SHORT))).isEqualTo(0);
      assertThat(checks).isGreaterThan(before);
      onCheck =
          () -> {
            throw new WrongResultException("far off");
          };
      assertThatThrownBy(() -> timer.run(SHORT)).hasMessage("far off");
    }
  }
}
