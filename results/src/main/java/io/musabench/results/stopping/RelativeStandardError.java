package io.musabench.results.stopping;

/**
 * Enough when the standard error of the mean is small beside the mean: {@code s / (sqrt(n) *
 * mean)}, {@code s} the standard deviation of the samples.
 *
 * <p>NVBench's criterion of the same name asks for {@code s / mean}, which does not fall with more
 * samples: it judges the noise of the device, this one how well the mean is known. Worked numbers:
 * at a noise of 2 %, 0.5 % takes 16 samples, 1 % takes 4. It takes samples for independent; where
 * they drift together it is too small.
 */
public final class RelativeStandardError implements StoppingCriterion {
  private final double wanted;
  private int count;
  private double mean;
  private double squares; // sum of squared distances from the mean, by Welford's recurrence

  /**
   * @param wanted the largest error that is enough, as a fraction
   */
  public RelativeStandardError(double wanted) {
    if (!(wanted > 0 && wanted < 1)) {
      throw new IllegalArgumentException("must be above 0 % and below 100 %");
    }
    this.wanted = wanted;
  }

  @Override
  public void add(double nanos) {
    count++;
    double before = nanos - mean;
    mean += before / count;
    squares += before * (nanos - mean);
  }

  /** The error as a fraction; infinite before the second sample. */
  public double value() {
    return count < 2
        ? Double.POSITIVE_INFINITY
        : Math.sqrt(squares / (count - 1) / count) / Math.abs(mean);
  }

  @Override
  public boolean met() {
    return value() <= wanted;
  }

  @Override
  public int missing() {
    if (count < 2) {
      return 2 - count;
    }
    double factor = value() / wanted;
    return (int) Math.max(1, Math.min(1e9, count * (factor * factor - 1)));
  }

  @Override
  public String unmet() {
    return "relative standard error %s > %s".formatted(percent(value()), percent(wanted));
  }

  private static String percent(double fraction) {
    return Double.isFinite(fraction) ? Digits.three(100 * fraction) + " %" : "unknown";
  }

  /** {@code stdrel:0.5%} or {@code stdrel:0.005}; 0.5 % is NVBench's default. */
  public static final class Provider implements StoppingCriterionProvider {
    private static final String DEFAULT = "0.5%";

    @Override
    public String name() {
      return "stdrel";
    }

    @Override
    public String help() {
      return "stdrel:0.5%: standard error of the mean at most 0.5 % of the mean";
    }

    @Override
    public StoppingCriterion create(String argument) {
      String text = argument.isEmpty() ? DEFAULT : argument;
      boolean percent = text.endsWith("%");
      try {
        double value =
            Double.parseDouble(percent ? text.substring(0, text.length() - 1).strip() : text);
        return new RelativeStandardError(percent ? value / 100 : value);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("write a share such as stdrel:0.5%", e);
      }
    }
  }
}
