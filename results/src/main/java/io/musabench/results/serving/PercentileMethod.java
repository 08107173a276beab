package io.musabench.results.serving;

/** How a percentile is taken from an ordered population x(1) ≤ … ≤ x(n). */
public enum PercentileMethod {
  /** Between neighbours at rank 1 + (n - 1)·p/100, as numpy and most tools do. */
  LINEAR("linear") {
    @Override
    double of(Sample sample, double p) {
      double index = (sample.count() - 1) * (p / 100);
      long below = (long) Math.floor(index);
      double t = index - below;
      double low = sample.ranked(below + 1);
      if (t == 0) {
        return low;
      }
      double high = sample.ranked(below + 2);
      // Numpy's way of rounding, so that its files are met to the last digit.
      return t < 0.5 ? low + (high - low) * t : high - (high - low) * (1 - t);
    }
  },
  /** x at rank ⌈n·p/100⌉: always a value that was measured. */
  NEAREST_RANK("nearest-rank") {
    @Override
    double of(Sample sample, double p) {
      // The slack keeps 0.99 · 100 = 99.00000000000001 from asking for rank 100.
      return sample.ranked((long) Math.ceil(sample.count() * p / 100 - 1e-9));
    }
  },
  /** x at zero-based index ⌊n·p/100⌋, as evalscope does. */
  INDEX("index") {
    @Override
    double of(Sample sample, double p) {
      return sample.ranked((long) (sample.count() * p / 100 + 1e-9) + 1);
    }
  };

  private final String id;

  PercentileMethod(String id) {
    this.id = id;
  }

  /** The name on the command line. */
  public String id() {
    return id;
  }

  /** The {@code p}th percentile, 0 ≤ p ≤ 100; the sample has at least one value. */
  abstract double of(Sample sample, double p);
}
