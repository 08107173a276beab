package io.musabench.results.tpot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.model.Models;
import io.musabench.results.tpot.kernels.KernelTimes;
import io.musabench.results.tpot.kernels.LaunchCosts;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class IntervalsTest {
  private static final double NINE_TENTHS = Estimate.DEVIATIONS;
  private static final int CONTEXT = 1152;

  private static StepModel model(double error, double clock, double launch) {
    Engine engine =
        Engine.of(Models.find("Qwen3-32B").layout(4)).toBuilder()
            .mode(Mode.EAGER)
            .clockError(clock)
            .launch(new LaunchCosts(launch, 0, 0, Provenance.MEASURED))
            .build();
    // Far from their roofs, so that times may move in both directions.
    return new StepModel(engine, new KernelTimes(new AnalyticKernels(4, error, 80e9)));
  }

  private static Estimate one(StepModel model, int batch, Intervals.Numbers number) {
    return all(model, batch, number).get(0);
  }

  private static List<Estimate> all(StepModel model, int batch, Intervals.Numbers numbers) {
    return Intervals.of(model, model.decode(batch, CONTEXT)).of(numbers, Provenance.MEASURED);
  }

  private static double[] step(Intervals.Moved moved, StepModel model, int batch) {
    return new double[] {moved.of(model).decode(batch, CONTEXT).seconds()};
  }

  /** Of the squares of the times of a step's operations. */
  private static double root(StepTime step) {
    Map<String, Double> sums = new HashMap<>();
    step.terms().forEach(t -> sums.merge(t.role(), t.seconds(), Double::sum));
    return Math.sqrt(sums.values().stream().mapToDouble(s -> s * s).sum());
  }

  @Test
  void operationsAddUpAsTheRootOfTheirSquaresAndAllCallsOfOneAsTheyAre() {
    StepModel model = model(0.05, 0, 0);
    StepTime step = model.decode(8, CONTEXT);
    Estimate e = time(model, 8);
    assertThat(e.value()).isEqualTo(step.seconds());
    double half = 0.05 * NINE_TENTHS * root(step);
    assertThat(e.high() - e.value()).isCloseTo(half, within(1e-9 * half));
    assertThat(e.value() - e.low()).isCloseTo(half, within(1e-9 * half));

    // All together move in the direction of that step, which is not quite that of another.
    Estimate prompts =
        one(model, 8, moved -> new double[] {moved.of(model).prefill(1, 4096, 0).seconds()});
    StepTime prefill = model.prefill(1, 4096, 0);
    half = 0.05 * NINE_TENTHS * root(prefill);
    assertThat(prompts.high() - prompts.value()).isCloseTo(half, within(1e-9 * half));
  }

  @Test
  void whatTwoSidesShareCancelsInTheirRatioAndDifference() {
    StepModel clock = model(0, 0.1, 0);
    List<Estimate> found =
        all(
            clock,
            8,
            moved -> {
              double a = moved.of(clock).decode(8, CONTEXT).seconds();
              double b = moved.of(clock).decode(64, CONTEXT).seconds();
              return new double[] {b / a, b - a};
            });
    assertThat(found.get(0).high()).isCloseTo(found.get(0).low(), within(1e-12));
    // A difference of two times of one clock is off by the clock, and by no more.
    Estimate difference = found.get(1);
    double off = 0.1 * NINE_TENTHS * difference.value();
    assertThat(difference.high() - difference.value()).isCloseTo(off, within(1e-12));

    StepModel kernels = model(0.05, 0, 0);
    Estimate ratio =
        one(
            kernels,
            8,
            moved ->
                new double[] {
                  moved.of(kernels).decode(9, CONTEXT).seconds()
                      / moved.of(kernels).decode(8, CONTEXT).seconds()
                });
    Estimate time = time(kernels, 8);
    assertThat(ratio.high() / ratio.value() - 1)
        .isPositive()
        .isLessThan(0.1 * (time.high() / time.value() - 1));
  }

  @Test
  void allTogetherReachBeyondAKinkThatNoneReachesAlone() {
    StepModel free = model(0.05, 0, 0);
    StepTime step = free.decode(8, CONTEXT);
    double largest = step.terms().stream().mapToDouble(Term::seconds).max().orElseThrow();
    double alone = 0.05 * NINE_TENTHS * largest;
    double together = 0.05 * NINE_TENTHS * root(step);
    double host = step.kernelSeconds() + (alone + together) / 2;
    StepModel bound = model(0.05, 0, host / step.kernels());
    Estimate e = time(bound, 8);
    assertThat(e.value()).isCloseTo(host, within(1e-12));
    assertThat(e.low()).isEqualTo(e.value());
    assertThat(e.high())
        .isCloseTo(step.kernelSeconds() + together, within(1e-12))
        .isGreaterThan(e.value());
  }

  @Test
  void aScaledKernelIsScaledAfterItWasMoved() {
    // At its roof no kernel gets faster, and one that is slower by a tenth is so wherever it was.
    StepModel model =
        new StepModel(
            model(0, 0.2, 0).engine(), new KernelTimes(new AnalyticKernels(1, 0, 80e9, 0)));
    StepModel slower = model.scaled((role, call, time) -> role.equals("gate_up") ? 1.1 : 1);
    Estimate change =
        one(
            model,
            8,
            moved -> {
              double before = moved.of(model).decode(8, CONTEXT).seconds();
              return new double[] {moved.of(slower).decode(8, CONTEXT).seconds() - before};
            });
    assertThat(change.low()).isCloseTo(change.value(), within(1e-12));
    assertThat(change.high()).isCloseTo((1 + 0.2 * NINE_TENTHS) * change.value(), within(1e-12));
  }

  @Test
  void theTimeOfAnOperationMovesAsInItsStep() {
    StepModel model = model(0.05, 0.02, 0);
    StepTime step = model.decode(8, CONTEXT);
    List<Estimate> found =
        all(
            model,
            8,
            moved -> {
              double sum = step.terms().stream().mapToDouble(t -> moved.seconds(model, t)).sum();
              return new double[] {sum - moved.of(model).decode(8, CONTEXT).kernelSeconds()};
            });
    assertThat(found.get(0).high() - found.get(0).low()).isLessThan(1e-12);
  }

  @Property(tries = 100)
  void anIntervalHoldsItsValueAndWiderErrorsNeverNarrowIt(
      @ForAll @IntRange(min = 1, max = 128) int batch,
      @ForAll @DoubleRange(min = 0, max = 0.2) double error,
      @ForAll @DoubleRange(min = 0, max = 0.2) double clock,
      @ForAll @DoubleRange(min = 1, max = 3) double wider,
      @ForAll @DoubleRange(min = 0, max = 100) double launchUs) {
    double launch = launchUs / 1e6;
    Estimate narrow = time(model(error, clock, launch), batch);
    Estimate wide = time(model(wider * error, wider * clock, launch), batch);
    for (Estimate e : List.of(narrow, wide)) {
      assertThat(e.value()).isBetween(e.low(), e.high());
    }
    assertThat(wide.value()).isEqualTo(narrow.value());
    assertThat(wide.low()).isLessThanOrEqualTo(narrow.low() * (1 + 1e-12));
    assertThat(wide.high()).isGreaterThanOrEqualTo(narrow.high() * (1 - 1e-12));
    Estimate exact = time(model(0, 0, launch), batch);
    assertThat(exact.low()).isEqualTo(exact.high()).isEqualTo(narrow.value());
  }

  private static Estimate time(StepModel model, int batch) {
    return one(model, batch, moved -> step(moved, model, batch));
  }

  @Test
  void causesMayConcernOneModelOnly() {
    StepModel here = model(0, 0.1, 0);
    StepModel there = model(0, 0.1, 0);
    Intervals intervals =
        new Intervals(
            Arrays.asList((m, t) -> m == there ? 0.25 : 0), there, there.decode(8, CONTEXT));
    Estimate ratio =
        intervals
            .of(
                moved -> new double[] {step(moved, there, 8)[0] / step(moved, here, 8)[0]},
                Provenance.EXTRAPOLATED)
            .get(0);
    assertThat(ratio.value()).isEqualTo(1);
    assertThat(ratio.high()).isCloseTo(1 + 0.25 * NINE_TENTHS, within(1e-12));
    assertThat(ratio.provenance()).isEqualTo(Provenance.EXTRAPOLATED);
  }
}
