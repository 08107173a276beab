package io.musabench.jmh.device;

import java.util.Collection;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.Aggregator;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ResultRole;
import org.openjdk.jmh.util.ListStatistics;

/**
 * Carries a {@link Measured} from the fork to the host JVM as one of JMH's results.
 *
 * <p>Secondary, because JMH averages whatever claims to be primary into its own host score. {@link
 * DeviceTimeResults} makes it the primary one afterwards.
 */
final class DeviceSamples extends Result<DeviceSamples> {
  /** Label of this result among an iteration's secondary results. */
  static final String LABEL = "device.samples";

  private static final long serialVersionUID = 1L;

  private final Measured measurement;

  DeviceSamples(Measured measurement) {
    super(
        ResultRole.SECONDARY,
        LABEL,
        new ListStatistics(measurement.nanos()),
        "ns/op",
        AggregationPolicy.AVG);
    this.measurement = measurement;
  }

  Measured measurement() {
    return measurement;
  }

  @Override
  protected Aggregator<DeviceSamples> getThreadAggregator() {
    return DeviceSamples::last;
  }

  // Inside the fork JMH prints an aggregate that nobody reads; the host JVM sees every iteration.
  @Override
  protected Aggregator<DeviceSamples> getIterationAggregator() {
    return DeviceSamples::last;
  }

  private static DeviceSamples last(Collection<DeviceSamples> results) {
    DeviceSamples last = null;
    for (DeviceSamples result : results) {
      last = result;
    }
    return last;
  }
}
