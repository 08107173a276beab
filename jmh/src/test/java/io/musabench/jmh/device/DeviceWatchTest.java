package io.musabench.jmh.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.musabench.bindings.management.DeviceProcess;
import io.musabench.jmh.cli.MusabenchProcess;
import io.musabench.results.run.Sample;
import io.musabench.results.stopping.SampleCount;
import io.musabench.results.stopping.StoppingCriterion;
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
  private int low; // samples that were taken under a throttled clock

  private static DeviceWatch watch(IntToDoubleFunction clock) {
    return FakeMonitor.watch(clock);
  }

  /** So many samples, and how many batches were begun: before each it is asked what is missing. */
  private static final class Batches implements StoppingCriterion {
    private final SampleCount count;
    private final AtomicInteger begun = new AtomicInteger();

    Batches(int samples) {
      count = new SampleCount(samples);
    }

    @Override
    public void add(double nanos) {
      count.add(nanos);
    }

    @Override
    public boolean met() {
      return count.met();
    }

    @Override
    public String unmet() {
      return count.unmet();
    }

    @Override
    public int missing() {
      begun.incrementAndGet();
      return count.missing();
    }

    @Override
    public boolean estimates() {
      return count.estimates();
    }
  }

  /**
   * Samples of an empty kernel on the host device.
   *
   * @param beside whether the clock is read while a batch runs
   * @param clock in MHz, by the number of the batch from 1: at whatever moment it is read
   * @param ceiling in seconds
   */
  private SampleLoop.Taken sample(
      boolean beside, IntToDoubleFunction clock, int count, double ceiling) {
    MusabenchProcess.requireNativeLibraries();
    try (DeviceContext context = DeviceContext.open();
        Session session = new Session(context)) {
      Batches batches = new Batches(count);
      FakeMonitor monitor = new FakeMonitor(i -> clock.applyAsDouble(batches.begun.get()));
      context.watch(new DeviceWatch(Optional.of(monitor), beside, 0.75, false));
      Launch launch = Launch.of(context.kernels().empty());
      for (int i = 0; i < 10; i++) {
        session.hold().span(List.of(launch)).release().endSample();
      }
      IntFunction<double[]> source =
          samples -> {
            low += clock.applyAsDouble(batches.begun.get()) < 1000 ? samples : 0;
            return session.run(samples);
          };
      return new SampleLoop(context, source, 10)
          .run(new StoppingRule(batches, 1, 0, ceiling), 1000, 0);
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
    AtomicInteger batch = new AtomicInteger();
    FakeMonitor monitor = new FakeMonitor(i -> batch.get() < 2 ? 900 : 500);
    DeviceWatch watch = new DeviceWatch(Optional.of(monitor), true, 0.75, true);
    for (; batch.get() < 3; batch.incrementAndGet()) {
      watch.begin();
      assertThat(watch.end().throttled()).isEqualTo(batch.get() == 2);
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
              .run(new StoppingRule(new SampleCount(1), 1, 0, 0), 1000, 0);
      assertThat(taken.nanos()).hasSize(1);
      assertThat(taken.nanos()[0]).isPositive();
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
    assertThat(watch(i -> 1600).otherProcesses()).containsExactly("5000000 trainer");
    DeviceProcess unknown = new DeviceProcess(4711, "unknown", OptionalLong.empty());
    DeviceProcess other = new DeviceProcess(4712, "unknown", OptionalLong.empty());
    assertThat(DeviceWatch.others(List.of(unknown), 1)).isEmpty();
    assertThat(DeviceWatch.others(List.of(unknown, other), 1)).containsExactly("4712 unknown");
  }

  @Test
  void shouldDropAndCountSamplesOfAThrottledClockAndGoOn() {
    SampleLoop.Taken taken = sample(true, batch -> batch < 3 ? 900 : 1600, 10, 30);
    assertThat(taken.nanos()).hasSize(10).doesNotContain(0);
    assertThat(taken.facts().throttled()).isPositive().isEqualTo(low);
    assertThat(taken.facts().throttleReasons()).containsExactly("power cap");
    assertThat(taken.facts().otherProcesses()).containsExactly("5000000 trainer");
    assertThat(metric(taken, Sample.DEVICE_CLOCK)).containsOnly(1600);
    assertThat(metric(taken, Measured.DEVICE_POWER)).containsOnly(300);
    assertThat(metric(taken, Measured.DEVICE_TEMPERATURE)).containsOnly(60);
  }

  @Test
  void shouldFailWhereNotOneSampleCouldBeAccepted() {
    assertThatThrownBy(() -> sample(true, batch -> 900, 10, 0.3))
        .isInstanceOf(ThrottledException.class)
        .hasMessageContaining("900 of 1750 MHz (power cap)")
        .hasMessageContaining("-Dmusabench.throttle=0");
  }

  @Test
  void shouldNotDropOnTheHostWhoseClockIsReadTooLate() {
    SampleLoop.Taken taken = sample(false, batch -> 900, 5, 30);
    assertThat(taken.facts().throttled()).isZero();
    assertThat(metric(taken, Sample.DEVICE_CLOCK)).containsExactly(900);
  }
}
