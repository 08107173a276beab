package io.musabench.jmh.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.bindings.management.DeviceProcess;
import io.musabench.jmh.cli.MusabenchProcess;
import io.musabench.results.run.Sample;
import io.musabench.results.stopping.SampleCount;
import io.musabench.results.stopping.StoppingRule;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

/** What is read beside samples, and what becomes of samples under a throttled clock. */
class DeviceWatchTest {
  private static DeviceWatch watch(IntToDoubleFunction clock) {
    return FakeMonitor.watch(clock);
  }

  /**
   * Samples of an empty kernel on the host device.
   *
   * @param beside whether the clock is read while a batch runs
   * @param clock in MHz, by the number of the batch
   */
  private static SampleLoop.Taken sample(
      boolean beside, IntToDoubleFunction clock, StoppingRule rule) {
    MusabenchProcess.requireNativeLibraries();
    try (DeviceContext context = DeviceContext.open();
        Session session = new Session(context)) {
      AtomicInteger batch = new AtomicInteger(-1);
      FakeMonitor monitor = new FakeMonitor(i -> clock.applyAsDouble(batch.get()));
      context.watch(new DeviceWatch(Optional.of(monitor), beside, 0.75, false));
      Launch launch = Launch.of(context.kernels().empty());
      for (int i = 0; i < 10; i++) {
        session.hold().span(List.of(launch)).release().endSample();
      }
      IntFunction<double[]> source =
          samples -> {
            batch.incrementAndGet();
            return session.run(samples);
          };
      return new SampleLoop(context, source, 10).run(rule, 1000);
    }
  }

  private static double[] metric(SampleLoop.Taken taken, String name) {
    return taken.metrics().stream()
        .filter(m -> m.name().equals(name))
        .findFirst()
        .orElseThrow()
        .values();
  }

  @Test
  void shouldNotTakeALockedClockForAThrottledOne() {
    DeviceWatch watch =
        new DeviceWatch(Optional.of(new FakeMonitor(i -> i < 2 ? 900 : 500)), true, 0.75, true);
    for (boolean throttled : new boolean[] {false, false, true}) {
      watch.begin();
      assertThat(watch.end().throttled()).isEqualTo(throttled);
    }
  }

  @Test
  void shouldTakeSamplesAgainThatWereHeldToTheLimitEvenAboveTheCeiling() {
    MusabenchProcess.requireNativeLibraries();
    try (DeviceContext context = DeviceContext.open();
        Session session = new Session(context)) {
      session
          .hold()
          // Waits for what is held, as a full queue does.
          .untimed(program -> program.synchronize(context.stream()))
          .span(List.of(Launch.of(context.kernels().empty())))
          .release()
          .endSample();
      SampleLoop.Taken taken =
          new SampleLoop(context, session::run, 1)
              .run(new StoppingRule(new SampleCount(1), 1, 0, 0), 1000);
      assertThat(taken.nanos()).hasSize(1);
      assertThat(taken.nanos()[0]).isBetween(1.0, 0.5e9);
      assertThat(taken.facts().notes()).singleElement().asString().contains("not held any more");
    }
  }

  @Test
  void shouldReadTheStateOnceAfterAShortBatch() {
    DeviceWatch watch = watch(i -> 1600);
    watch.begin();
    DeviceWatch.Reading reading = watch.end();
    assertThat(reading.coreMhz()).hasValue(1600);
    assertThat(reading.powerWatts()).hasValue(300);
    assertThat(reading.throttled()).isFalse();
  }

  @Test
  void shouldReadAgainAndAgainDuringALongBatch() throws InterruptedException {
    CountDownLatch readings = new CountDownLatch(3);
    DeviceWatch watch =
        watch(
            i -> {
              readings.countDown();
              return i == 0 ? 1700 : 1500;
            });
    watch.begin();
    assertThat(readings.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(watch.end().coreMhz().orElseThrow()).isBetween(1500.0, 1699.0);
  }

  @Test
  void shouldKnowNothingWithoutAMonitor() {
    DeviceWatch watch = new DeviceWatch(Optional.empty(), true, 0.75, false);
    watch.begin();
    assertThat(watch.end().coreMhz()).isEmpty();
    assertThat(watch.otherProcesses()).isEmpty();
    assertThat(watch.mayDrop()).isFalse();
  }

  @Test
  void shouldTakeAClockOfZeroForUnknown() {
    DeviceWatch watch = watch(i -> 0);
    watch.begin();
    DeviceWatch.Reading reading = watch.end();
    assertThat(reading.coreMhz()).isEmpty();
    assertThat(reading.throttled()).isFalse();
  }

  @Test
  void shouldListOthersAlsoWhereThisProcessHasAnotherNumber() {
    assertThat(watch(i -> 1600).otherProcesses()).containsExactly("77 trainer");
    DeviceProcess unknown = new DeviceProcess(4711, "unknown", OptionalLong.empty());
    DeviceProcess other = new DeviceProcess(4712, "unknown", OptionalLong.empty());
    assertThat(DeviceWatch.others(List.of(unknown), 1)).isEmpty();
    assertThat(DeviceWatch.others(List.of(unknown, other), 1)).containsExactly("4712 unknown");
  }

  @Test
  void shouldDropAndCountSamplesOfAThrottledClockAndGoOn() {
    SampleLoop.Taken taken =
        sample(
            true, batch -> batch < 2 ? 900 : 1600, new StoppingRule(new SampleCount(10), 1, 0, 30));
    assertThat(taken.nanos()).hasSize(10).doesNotContain(0);
    assertThat(taken.facts().throttled()).isEqualTo(20);
    assertThat(taken.facts().throttleReasons()).containsExactly("power cap");
    assertThat(taken.facts().otherProcesses()).containsExactly("77 trainer");
    assertThat(metric(taken, Sample.DEVICE_CLOCK)).containsExactly(1600);
    assertThat(metric(taken, Measured.DEVICE_POWER)).containsExactly(300);
    assertThat(metric(taken, Measured.DEVICE_TEMPERATURE)).containsExactly(60);
  }

  @Test
  void shouldFailWhereNotOneSampleCouldBeAccepted() {
    assertThatThrownBy(
            () -> sample(true, batch -> 900, new StoppingRule(new SampleCount(10), 1, 0, 0.3)))
        .isInstanceOf(ThrottledException.class)
        .hasMessageContaining("900 of 1750 MHz (power cap)")
        .hasMessageContaining("-Dmusabench.throttle=0");
  }

  @Test
  void shouldNotDropOnTheHostWhoseClockIsReadTooLate() {
    SampleLoop.Taken taken =
        sample(false, batch -> 900, new StoppingRule(new SampleCount(5), 1, 0, 30));
    assertThat(taken.facts().throttled()).isZero();
    assertThat(metric(taken, Sample.DEVICE_CLOCK)).containsExactly(900);
  }
}
