package io.musabench.results.stopping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoppingTest {
  private static void feed(StoppingCriterion criterion, int n, double... samples) {
    for (int i = 0; i < n; i++) {
      criterion.add(samples[i % samples.length]);
    }
  }

  @Test
  void shouldFindCriteriaByNameAndReadTheirArgument() {
    assertThat(new Stopping("stdrel:2%").create()).isInstanceOf(RelativeStandardError.class);
    assertThat(new Stopping("stdrel:0.02").create()).isInstanceOf(RelativeStandardError.class);
    assertThat(new Stopping("stdrel").create()).isInstanceOf(RelativeStandardError.class);
    assertThat(new Stopping("entropy").create()).isInstanceOf(Entropy.class);
    assertThat(new Stopping("samples:3").create().missing()).isEqualTo(3);
    assertThat(Stopping.providers()).hasSizeGreaterThanOrEqualTo(4); // With the one below.
  }

  @Test
  void shouldFindACriterionOfAnotherJar() {
    StoppingCriterion criterion = new Stopping("first-below:10").create();
    criterion.add(11);
    assertThat(criterion.met()).isFalse();
    criterion.add(9);
    assertThat(criterion.met()).isTrue();
  }

  @Test
  void shouldNotLoseTheCriteriaToAJarThatDoesNotLoad(@TempDir Path jar) throws IOException {
    Path services = Files.createDirectories(jar.resolve("META-INF/services"));
    Files.writeString(
        services.resolve(StoppingCriterionProvider.class.getName()), "no.such.Criterion\n");
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (URLClassLoader loader = new URLClassLoader(new URL[] {jar.toUri().toURL()}, before)) {
      thread.setContextClassLoader(loader);
      assertThat(new Stopping("stdrel:2%").create()).isInstanceOf(RelativeStandardError.class);
      assertThatThrownBy(() -> new Stopping("mine"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("not loaded: Provider no.such.Criterion not found");
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Test
  void shouldSayWhatIsAllowed() {
    assertThatThrownBy(() -> new Stopping("stddev"))
        .hasMessageContaining("no stopping criterion \"stddev\"")
        .hasMessageContaining("entropy, first-below, samples, stdrel");
    assertThatThrownBy(() -> new Stopping("samples")).hasMessageContaining("samples:100");
    assertThatThrownBy(() -> new Stopping("samples:0")).hasMessageContaining("at least 1");
    assertThatThrownBy(() -> new Stopping("stdrel:x")).hasMessageContaining("stdrel:0.5%");
    assertThatThrownBy(() -> new Stopping("stdrel:0%")).hasMessageContaining("above 0 %");
    assertThatThrownBy(() -> new Stopping("entropy:-1")).hasMessageContaining("above 0");
  }

  @Test
  void equalSamplesShouldBeEnoughAtOnce() {
    RelativeStandardError criterion = new RelativeStandardError(0.005);
    criterion.add(42);
    assertThat(criterion.met()).isFalse();
    assertThat(criterion.unmet()).isEqualTo("relative standard error unknown > 0.5 %");
    criterion.add(42);
    assertThat(criterion.met()).isTrue();
  }

  @Test
  void shouldNameTheErrorThatWasReached() {
    RelativeStandardError criterion = new RelativeStandardError(0.005);
    feed(criterion, 100, 90, 110);
    // 10 % of deviation over the root of 100 samples, with 99 degrees of freedom.
    assertThat(criterion.unmet()).isEqualTo("relative standard error 1.01 % > 0.5 %");
    assertThat(criterion.missing()).isBetween(290, 310);
  }

  @Test
  void entropyShouldWaitForANewSpeedToShowItsShare() {
    Entropy criterion = new Entropy(0.05);
    feed(criterion, 31, 1000);
    assertThat(criterion.unmet()).contains("31 samples");
    feed(criterion, 1, 1000);
    assertThat(criterion.met()).isTrue();
    feed(criterion, 8, 1300);
    assertThat(criterion.met()).isFalse();
    assertThat(criterion.unmet()).contains("bit");
  }

  @Test
  void entropyOfADriftShouldNeverSettle() {
    Entropy criterion = new Entropy(0.05);
    for (int i = 0; i < 5000; i++) {
      criterion.add(1000 * Math.exp(0.001 * i));
    }
    assertThat(criterion.met()).isFalse();
  }

  @Test
  void aFixedCountShouldKnowNoFloors() {
    StoppingRule rule = new StoppingRule(new SampleCount(3), 5, 10, 80);
    assertThat(rule.next(1e-3, 1000)).isEqualTo(3);
    rule.add(new double[] {1, 2, 3}, 3e-3);
    assertThat(rule.done()).isTrue();
    assertThat(rule.unmet()).isEmpty();
  }

  @Test
  void shouldNameTheConditionThatTheCeilingLeftUnmet() {
    StoppingRule rule = new StoppingRule(new RelativeStandardError(0.005), 2, 0.5, 2.5);
    rule.add(new double[] {90, 110}, 3);
    assertThat(rule.done()).isTrue();
    assertThat(rule.unmet())
        .isEqualTo("stopped at the time ceiling of 2.5 s, relative standard error 10 % > 0.5 %");
    StoppingRule few = new StoppingRule(new RelativeStandardError(0.005), 5, 0.5, 2.5);
    few.add(new double[] {100, 100}, 3);
    assertThat(few.unmet()).endsWith("2 of at least 5 samples");
  }

  @Test
  void aBatchThatWasThrownAwayShouldCostTimeOnly() {
    StoppingRule rule = new StoppingRule(new SampleCount(2), 1, 0, 1);
    rule.add(new double[0], 0.4);
    assertThat(rule.done()).isFalse();
    rule.add(new double[0], 0.7);
    assertThat(rule.done()).isTrue();
    assertThat(rule.unmet()).contains("0 of 2 samples");
  }

  /** As a user would write it. */
  public static final class FirstBelow implements StoppingCriterionProvider {
    @Override
    public String name() {
      return "first-below";
    }

    @Override
    public String help() {
      return "first-below:N: a sample below N nanoseconds";
    }

    @Override
    public StoppingCriterion create(String argument) {
      double limit = Double.parseDouble(argument);
      return new StoppingCriterion() {
        private boolean met;

        @Override
        public void add(double nanos) {
          met |= nanos < limit;
        }

        @Override
        public boolean met() {
          return met;
        }

        @Override
        public String unmet() {
          return "no sample below " + limit;
        }
      };
    }
  }
}
