package io.musabench.results.tpot.answers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.audit.AuditOptions;
import io.musabench.results.audit.EndToEndTable;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.answers.Experiments.Outcome;
import io.musabench.results.tpot.answers.Identification.Range;
import io.musabench.results.tpot.answers.Identification.Service;
import java.util.Comparator;
import org.junit.jupiter.api.Test;

class IdentificationTest {
  // Figures of the course's page on serving Qwen3-32B on S5000.
  private static final String COURSE =
      """
      config,ttft_p50_ms,ttft_p99_ms,tpot_ms,itl_p99_ms,throughput_req_s,goodput_req_s
      baseline (eager),820,1860,62,96,2.1,0.4
      + prefix cache,410,1240,62,96,3.4,1.1
      + FULL CUDAGraph,410,1240,31,52,5.2,4.0
      + P/D split,360,980,27,44,5.8,5.3
      """;

  private static Identification identify(String csv, Range kernels) {
    return Identification.of(EndToEndTable.parse("t.csv", csv), AuditOptions.NONE, kernels);
  }

  @Test
  void launchCostOfTheCourseIsBetween30And68Microseconds() {
    Service s = identify(COURSE, null).services().get(0);
    assertThat(s.kernels()).isEqualTo(new Range(908, 1036));
    assertThat(s.launchUs().low()).isCloseTo(29, within(1.0));
    assertThat(s.launchUs().high()).isCloseTo(68.3, within(0.05));
    assertThat(s.launchUsWithTolerance().low()).isLessThan(s.launchUs().low());
  }

  @Test
  void interferenceIsBoundedByTheRowThatPrefillsElsewhere() {
    Service s = identify(COURSE, null).services().get(0);
    assertThat(s.interference().high()).isCloseTo(0.129, within(0.0005));
    assertThat(s.prefillMs().high()).isCloseTo(24.8, within(0.05));
    assertThat(s.convoyMs().low()).isCloseTo(14.6, within(0.05));
    assertThat(s.convoyMs().high()).isCloseTo(18.5, within(0.1));
  }

  @Test
  void aRowThatBeginsWithPlusKeepsWhatTheRowBeforeHad() {
    Service s = identify(COURSE, null).services().get(0);
    assertThat(s.points().stream().map(p -> p.features().mode()))
        .containsExactly(Mode.EAGER, Mode.EAGER, Mode.GRAPH, Mode.GRAPH);
    assertThat(s.points().get(3).features().prefixCache()).isTrue();
    assertThat(s.points().get(3).features().split()).isTrue();
    assertThat(s.points().get(1).concurrency()).isCloseTo(55.1, within(0.06));
  }

  @Test
  void theBestExperimentLeavesLeastAndIsFirst() {
    Service s = identify(COURSE, null).services().get(0);
    assertThat(s.experiments())
        .isSortedAccordingTo(Comparator.comparingDouble(Outcome::narrowing).reversed());
    assertThat(s.experiments())
        .allSatisfy(
            o -> {
              assertThat(o.launchLeft()).isBetween(0.0, 1.0);
              assertThat(o.prefillLeft()).isBetween(0.0, 1.0);
            });
    // Counting kernels says nothing of prefills, and timing a prefill says that alone.
    Outcome count = named(s, "count its kernels");
    assertThat(count.prefillLeft()).isEqualTo(1);
    assertThat(count.launchLeft()).isBetween(0.5, 0.95);
    assertThat(named(s, "one output token").prefillLeft()).isLessThan(0.2);
  }

  @Test
  void whatIsKnownAlreadyMakesItsExperimentUseless() {
    // With the number of kernels given, counting them narrows nothing.
    Service s = identify(COURSE, new Range(972, 972)).services().get(0);
    assertThat(s.launchUs().high()).isCloseTo(63.8, within(0.05));
    assertThat(named(s, "count its kernels").narrowing()).isCloseTo(0, within(1e-9));
  }

  private static Outcome named(Service s, String part) {
    return s.experiments().stream().filter(o -> o.name().contains(part)).findFirst().orElseThrow();
  }

  @Test
  void withoutAnEagerRowLaunchCostIsUnknownAndSaysWhy() {
    Service s =
        identify("model,tp,isl,osl,concurrency,ttft_ms,tpot_ms\nQwen3-8B,1,512,64,4,80,9\n", null)
            .services()
            .get(0);
    assertThat(s.launchUs().low()).isNaN();
    assertThat(s.remarks()).anyMatch(r -> r.contains("eager"));
    assertThat(s.points().get(0).concurrency()).isCloseTo(4, within(1e-9));
  }

  @Test
  void aSweepOfTheConcurrencyBoundsThePrefill() {
    // Made from T = 10 ms, P = 20 ms at any batch: TPOT = T / (1 - X P).
    double p = 0.02;
    StringBuilder csv = new StringBuilder("model,tp,isl,osl,ttft_ms,tpot_ms,rps\n");
    for (double x : new double[] {1, 5, 10}) {
      csv.append("Qwen3-8B,1,512,65,100,").append(10 / (1 - x * p)).append(',').append(x);
      csv.append('\n');
    }
    Service s = identify(csv.toString(), null).services().get(0);
    assertThat(s.prefillMs().high()).isCloseTo(20, within(1e-6));
  }

  @Test
  void rowsOfSeveralServicesAreKeptApart() {
    Identification found =
        identify(
            "model,tp,isl,osl,concurrency,ttft_ms,tpot_ms\n"
                + "Qwen3-32B,2,1024,64,4,80,9\nQwen3-32B,8,1024,64,4,80,9\n",
            null);
    assertThat(found.services()).extracting(Service::name).doesNotHaveDuplicates().hasSize(2);
  }

  @Test
  void aTableWithoutTpotIsRefused() {
    assertThatThrownBy(() -> identify("config,ttft_p50_ms\nx,3\n", null))
        .hasMessageContaining("row 1 (x) has no TPOT");
  }

  @Test
  void jsonNamesIntervalsAndTheNextExperiment() throws Exception {
    String json = new IdentificationReport("t.csv", identify(COURSE, null)).json();
    JsonNode root = new ObjectMapper().readTree(json);
    assertThat(root.at("/launch_us/high").asDouble()).isCloseTo(68.3, within(0.05));
    assertThat(root.at("/interference/x_times_p/high").asDouble()).isCloseTo(0.129, within(0.001));
    assertThat(root.at("/rows/0/effective_concurrency/value").asDouble())
        .isCloseTo(34.9, within(0.05));
    assertThat(root.at("/next_experiment/name").asText()).isNotEmpty();
    assertThat(root.path("provenance").asText()).isEqualTo("assumed");
    assertThat(root.path("assumptions")).isNotEmpty();
    assertThat(json).doesNotContain("NaN");
  }

  @Test
  void oneEagerRowGivesNoIntervalOfNothing() {
    Identification found =
        Identification.of(
            EndToEndTable.parse(
                "t",
                "config,ttft_p50_ms,tpot_ms,itl_p99_ms,throughput_req_s\neager,820,62,96,2.1\n"),
            AuditOptions.NONE,
            null);
    String text = new IdentificationReport("t", found).text();
    assertThat(text).doesNotContainPattern("0 us +0 us").contains("hidden");
    assertThat(found.services().get(0).launchUs().low()).isZero();
  }
}
