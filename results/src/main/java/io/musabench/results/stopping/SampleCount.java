package io.musabench.results.stopping;

/** Enough at a fixed number of samples, however they scatter. */
public final class SampleCount implements StoppingCriterion {
  private final int wanted;
  private int count;

  /**
   * @param wanted how many samples, at least 1
   */
  public SampleCount(int wanted) {
    if (wanted < 1) {
      throw new IllegalArgumentException("must be at least 1");
    }
    this.wanted = wanted;
  }

  @Override
  public void add(double nanos) {
    count++;
  }

  @Override
  public boolean met() {
    return count >= wanted;
  }

  @Override
  public int missing() {
    return Math.max(1, wanted - count);
  }

  @Override
  public boolean estimates() {
    return false;
  }

  @Override
  public String unmet() {
    return "%d of %d samples".formatted(count, wanted);
  }

  /** {@code samples:100}. */
  public static final class Provider implements StoppingCriterionProvider {
    @Override
    public String name() {
      return "samples";
    }

    @Override
    public String help() {
      return "samples:N: exactly N samples a session";
    }

    @Override
    public StoppingCriterion create(String argument) {
      try {
        return new SampleCount(Integer.parseInt(argument));
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("write a number of samples such as samples:100", e);
      }
    }
  }
}
