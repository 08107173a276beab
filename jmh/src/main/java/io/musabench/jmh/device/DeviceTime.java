package io.musabench.jmh.device;

import java.util.Arrays;
import java.util.Collection;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.Aggregator;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ResultRole;
import org.openjdk.jmh.util.ListStatistics;

/** A JMH result that keeps every sample, so that JMH's percentiles are those of the samples. */
final class DeviceTime extends Result<DeviceTime> {
  private static final long serialVersionUID = 1L;

  private final double[] values;

  DeviceTime(ResultRole role, String label, double[] values, String unit) {
    super(role, label, new ListStatistics(values), unit, AggregationPolicy.AVG);
    this.values = values.clone();
  }

  @Override
  protected Aggregator<DeviceTime> getThreadAggregator() {
    return DeviceTime::merge;
  }

  @Override
  protected Aggregator<DeviceTime> getIterationAggregator() {
    return DeviceTime::merge;
  }

  private static DeviceTime merge(Collection<DeviceTime> results) {
    DeviceTime first = results.iterator().next();
    double[] all =
        results.stream().flatMapToDouble(result -> Arrays.stream(result.values)).toArray();
    return new DeviceTime(first.role, first.label, all, first.unit);
  }
}
