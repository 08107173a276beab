package io.musabench.results.compare;

import static io.musabench.results.compare.Runs.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.run.RunException;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whole comparisons of JMH files. */
class ComparisonTest {
  private static final String FORKS = "[[10,10.1],[10.1,10],[10,10.05],[10.02,10]]";

  @TempDir Path folder;

  private Path file(String name, String... entries) throws IOException {
    return Files.writeString(folder.resolve(name), "[" + String.join(",", entries) + "]");
  }

  private Comparison against(String base, String candidate) throws IOException {
    return Runs.compare(file("base.json", base), file("candidate.json", candidate));
  }

  private static Verdict verdict(Comparison comparison) {
    assertThat(comparison.rows()).hasSize(1);
    return comparison.rows().get(0).verdict();
  }

  @Test
  void findsWhatChangedAndOnlyThat() throws IOException {
    Comparison comparison =
        Runs.compare(
            Runs.jmh(folder.resolve("a.json"), 1, 10, 100, 2000, 30),
            Runs.jmh(folder.resolve("b.json"), 2, 10, 100, 2100, 28));
    assertThat(comparison.rows())
        .extracting(CaseComparison::verdict)
        .containsExactly(Verdict.SAME, Verdict.SLOWER, Verdict.FASTER);
    assertThat(comparison.rows().get(1).ratio().ratio()).isCloseTo(1.05, within(0.005));
    assertThat(comparison.exitCode()).isEqualTo(Comparison.REGRESSION);
    assertThat(comparison.geometricMean()).isCloseTo(Math.cbrt(1.05 * 28 / 30), within(0.005));
  }

  @Test
  void aRunAgainstItselfIsTheSame() throws IOException {
    Path a = Runs.jmh(folder.resolve("a.json"), 1, 10, 100, 2000);
    Comparison comparison = Runs.compare(a, a);
    assertThat(comparison.rows()).allMatch(row -> row.verdict() == Verdict.SAME);
    assertThat(comparison.exitCode()).isEqualTo(Comparison.FINE);
  }

  @Test
  void threeForksAreRefused() throws IOException {
    Comparison comparison =
        Runs.compare(
            Runs.jmh(folder.resolve("a.json"), 1, 10, 100),
            Runs.jmh(folder.resolve("b.json"), 2, 3, 200));
    assertThat(verdict(comparison)).isEqualTo(Verdict.NOT_COMPARABLE);
    assertThat(comparison.rows().get(0).reason())
        .isEqualTo("the candidate has 3 forks, a verdict needs 4");
    assertThat(comparison.exitCode()).isEqualTo(Comparison.NOT_COMPARABLE);
  }

  @Test
  void operationsPerTimeAreTurnedOver() throws IOException {
    String twice = "[[20,20.2],[20.2,20],[20,20.1],[20.04,20]]";
    Comparison comparison =
        against(entry("a.B.c", "ops/us", FORKS), entry("a.B.c", "ops/us", twice));
    assertThat(verdict(comparison)).isEqualTo(Verdict.FASTER);
    assertThat(comparison.rows().get(0).base().timeUs()).isCloseTo(0.1, within(0.001));
  }

  @Test
  void aHistogramCountsByItsMedian() throws IOException {
    String histogram =
        "[[[[10,5],[11,1]]],[[[10.1,5],[90,2]]],[[[10,5],[9,2]]],[[[10.05,5],[11,2]]]]";
    String text = entry("a.B.c", "ns/op", histogram).replace("rawData", "rawDataHistogram");
    Comparison comparison = against(text, text);
    assertThat(verdict(comparison)).isEqualTo(Verdict.SAME);
    assertThat(comparison.rows().get(0).base().timeUs()).isCloseTo(0.01003, within(0.0001));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {"[10,1],[11,1],[12,1] | 0.011", "[10,2],[11,2] | 0.011", "[11,0],[12,1] | 0.012"})
  void theMedianOfAHistogramIsReachedByMoreThanHalf(String counts, double us) throws IOException {
    String forks = "[%1$s,%1$s,%1$s,%1$s]".formatted("[[" + counts + "]]");
    String text = entry("a.B.c", "ns/op", forks).replace("rawData", "rawDataHistogram");
    assertThat(against(text, text).rows().get(0).base().timeUs()).isCloseTo(us, within(1e-12));
  }

  @Test
  void anEmptyHistogramIsNoTime() throws IOException {
    String text =
        entry("a.B.c", "ns/op", "[[[]],[[]],[[]],[[]]]").replace("rawData", "rawDataHistogram");
    assertThat(against(text, text).rows().get(0).reason())
        .isEqualTo("base: fork 1 has the value NaN, which is no time");
  }

  @Test
  void aMissingCaseFailsAndANewOneIsANote() throws IOException {
    Comparison comparison =
        Runs.compare(
            file("a.json", entry("a.B.c", "ns/op", FORKS), entry("a.B.d", "ns/op", FORKS)),
            file("b.json", entry("a.B.c", "ns/op", FORKS), entry("a.B.e", "ns/op", FORKS)));
    assertThat(comparison.rows())
        .extracting(CaseComparison::verdict)
        .containsExactly(Verdict.SAME, Verdict.MISSING, Verdict.NEW);
    assertThat(comparison.exitCode()).isEqualTo(Comparison.REGRESSION);
  }

  @Test
  void everyDifferenceIsListedAndMayBeAccepted() throws IOException {
    String base = entry("a.B.c", "ns/op", FORKS);
    String candidate =
        base.replace("\"threads\": 1", "\"threads\": 2")
            .replace("17.0.1", "21")
            .replace("-Xmx1g", "-Xmx2g");
    Comparison comparison = against(base, candidate);
    assertThat(verdict(comparison)).isEqualTo(Verdict.NOT_COMPARABLE);
    assertThat(comparison.rows().get(0).reason())
        .isEqualTo(
            "jvmArgs: -Xmx1g against -Xmx2g; threads: 1 against 2; vmVersion: 17.0.1 against 21");
    Comparison.Options accept =
        new Comparison.Options(
            new Judge(), 0.01, Map.of(), Set.of("jvmArgs", "threads", "vmVersion"), false, false);
    assertThat(verdict(Comparison.of(comparison.base(), comparison.candidate(), accept)))
        .isEqualTo(Verdict.SAME);
  }

  @Test
  void whereFilesLieIsNoDifference() throws IOException {
    String base = entry("a.B.c", "ns/op", FORKS);
    assertThat(verdict(against(base, base.replace("/somewhere", "/elsewhere"))))
        .isEqualTo(Verdict.SAME);
  }

  @Test
  void unitsThatDifferAreNotComparable() throws IOException {
    Comparison comparison = against(entry("a.B.c", "ns/op", FORKS), entry("a.B.c", "us/op", FORKS));
    assertThat(verdict(comparison)).isEqualTo(Verdict.NOT_COMPARABLE);
    assertThat(comparison.rows().get(0).reason()).isEqualTo("unit: ns/op against us/op");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[[10,\"NaN\"],[10],[10],[10]]",
        "[[10,NaN],[10],[10],[10]]",
        "[[10,-1],[10],[10],[10]]",
        "[[10,0],[10],[10],[10]]",
        "[[10,\"Infinity\"],[10],[10],[10]]",
        "[[10],[],[10],[10]]",
        "[]"
      })
  void valuesThatAreNoTimesAreNotComparable(String raw) throws IOException {
    Comparison comparison = against(entry("a.B.c", "ns/op", FORKS), entry("a.B.c", "ns/op", raw));
    assertThat(verdict(comparison)).isEqualTo(Verdict.NOT_COMPARABLE);
    assertThat(comparison.rows().get(0).reason()).startsWith("candidate: ").doesNotContain("\n");
    assertThat(comparison.exitCode()).isEqualTo(Comparison.NOT_COMPARABLE);
  }

  @Test
  void theForkOfAWrongValueIsNamed() throws IOException {
    String good = entry("a.B.c", "ns/op", FORKS);
    Comparison comparison = against(good, entry("a.B.c", "ns/op", "[[10],[10,\"NaN\"],[10],[10]]"));
    assertThat(comparison.rows().get(0).reason())
        .isEqualTo("candidate: fork 2 has the value NaN, which is no time");
  }

  @Test
  void aUnitThatIsNoTimeIsNotComparable() throws IOException {
    String odd = entry("a.B.c", "B/op", FORKS);
    Comparison comparison = against(odd, odd);
    assertThat(verdict(comparison)).isEqualTo(Verdict.NOT_COMPARABLE);
    assertThat(comparison.rows().get(0).reason()).contains("\"B/op\"");
  }

  @Test
  void aCaseThatAppearsTwiceIsNotComparable() throws IOException {
    String once = entry("a.B.c", "ns/op", FORKS);
    Comparison comparison = Runs.compare(file("a.json", once), file("b.json", once, once));
    assertThat(verdict(comparison)).isEqualTo(Verdict.NOT_COMPARABLE);
    assertThat(comparison.rows().get(0).reason()).contains("appears twice");
  }

  static Stream<Arguments> foreignFiles() {
    String metric = "[{\"benchmark\": \"a\", \"primaryMetric\": %s}]";
    String good = "[{\"benchmark\": \"a\", \"primaryMetric\": {}}%s";
    return Stream.of(
            "|it does not start with an array of results",
            "{}|it does not start with an array of results",
            "[]|it has no results",
            "[1]|entry 1 is not an object",
            good.formatted(", 2]") + "|entry 2 is not an object",
            "[{}]|entry 1 has no \"benchmark\"",
            good.formatted(", {}]") + "|entry 2 has no \"benchmark\"",
            "[{\"benchmark\": \"a\"}]|entry 1 has no \"primaryMetric\"",
            "[{\"benchmark\": {\"a\": [1]}, \"primaryMetric\": {}}]|entry 1 has no \"benchmark\"",
            "[{\"benchmark\": [1], \"primaryMetric\": 5}]|a metric is not an object",
            metric.formatted("{\"rawData\": 5}") + "|its raw data is not [fork][iteration]",
            metric.formatted("{\"rawData\": [5]}") + "|its raw data is not [fork][iteration]",
            metric.formatted("{\"rawData\": {\"a\": [5]}}")
                + "|its raw data is not [fork][iteration]",
            metric.formatted("{\"rawData\": [[\"x\"]]}") + "|its raw data holds \"x\"",
            metric.formatted("{\"rawData\": [[{}]]}")
                + "|its raw data holds something that is not a number",
            metric.formatted("{\"rawDataHistogram\": [[5]]}")
                + "|its raw data is not [fork][iteration]",
            metric.formatted("{\"rawDataHistogram\": [[[5]]]}")
                + "|its raw data is not [fork][iteration]",
            metric.formatted("{\"rawDataHistogram\": [[[[1,2,3]]]]}")
                + "|its histogram is not made of values and counts",
            metric.formatted("{\"rawDataHistogram\": [[[[1,2],[2,-1]]]]}")
                + "|its histogram has the count -1",
            good.formatted("] [") + "|something follows its array of results",
            good.formatted("] {\"a\": 1}") + "|something follows its array of results")
        .map(line -> line.split("\\|"))
        .map(parts -> Arguments.of(parts[0], "is not a result file of JMH: " + parts[1]));
  }

  @ParameterizedTest
  @MethodSource("foreignFiles")
  void foreignFilesAreRefusedInOneLineThatSaysWhy(String text, String why) throws IOException {
    Path file = Files.writeString(folder.resolve("foreign.json"), text);
    assertThatThrownBy(() -> MeasuredRun.read(file))
        .isInstanceOf(RunException.class)
        .hasMessage(file + " " + why);
  }

  @ParameterizedTest
  @ValueSource(strings = {"[\n{\"benchmark\": \"a\", \"primary", "[\nnot JSON", "[\n\u0000\u0001"})
  void whatIsNoJsonIsRefusedWithItsLine(String text) throws IOException {
    Path file = Files.writeString(folder.resolve("foreign.json"), text);
    assertThatThrownBy(() -> MeasuredRun.read(file))
        .isInstanceOf(RunException.class)
        .hasMessageStartingWith(file + " is not valid JSON: ")
        .hasMessageEndingWith(" (line 2)")
        .hasMessageMatching(".* JSON: \\S.* \\(line 2\\)");
  }

  @Test
  void everyTruncationIsRefusedInOneLine() throws IOException {
    String whole = "[" + entry("a.B.c", "ns/op", FORKS).strip() + "]";
    for (int length = 0; length < whole.length(); length++) {
      Path file = Files.writeString(folder.resolve("cut.json"), whole.substring(0, length));
      assertThatThrownBy(() -> MeasuredRun.read(file))
          .isInstanceOf(RunException.class)
          .message()
          .doesNotContain("\n");
    }
  }

  @Test
  void damagedFilesAreRefusedOrComparedButNeverBreak() throws IOException {
    Path whole = Runs.jmh(folder.resolve("whole.json"), 1, 4, 100, 200);
    MeasuredRun base = MeasuredRun.read(whole);
    byte[] bytes = Files.readAllBytes(whole);
    SplittableRandom random = new SplittableRandom(20261129);
    String likely = "[]{}\":,0-9eE.NaN\\ ";
    for (int round = 0; round < 1500; round++) {
      byte[] damaged = bytes.clone();
      for (int i = random.nextInt(1, 4); i > 0; i--) {
        damaged[random.nextInt(damaged.length)] =
            (byte) likely.charAt(random.nextInt(likely.length()));
      }
      Path file = Files.write(folder.resolve("damaged.json"), damaged);
      try {
        Comparison comparison =
            Comparison.of(base, MeasuredRun.read(file), Comparison.Options.DEFAULT);
        for (ComparisonReport form : ComparisonReport.values()) {
          form.write(comparison, Writer.nullWriter());
        }
      } catch (RunException e) {
        assertThat(e.getMessage()).doesNotContain("\n");
      }
    }
  }

  @Test
  void slowerInTimeButNotInCyclesIsAClockEffect() throws IOException {
    String clocks =
        ",\"secondaryMetrics\": {\"device.clock\": {\"scoreUnit\": \"MHz\", \"rawData\": %s}}, \"x\": {}";
    String slow = "[[10.5,10.6],[10.6,10.5],[10.5,10.55],[10.52,10.5]]";
    String base =
        entry("a.B.c", "ns/op", FORKS)
            .replace(", \"secondaryMetrics\": {}", "")
            .replace(
                "\"params\"",
                clocks.formatted("[[1500],[1500],[1500],[1500]]").substring(1) + ", \"params\"");
    String candidate =
        entry("a.B.c", "ns/op", slow)
            .replace(
                "\"params\"",
                clocks.formatted("[[1428],[1429],[1428],[1428]]").substring(1) + ", \"params\"");
    base = base.replaceFirst("(?s),\\s*\"secondaryMetrics\": \\{}}\\s*$", "}");
    candidate = candidate.replaceFirst("(?s),\\s*\"secondaryMetrics\": \\{}}\\s*$", "}");
    Comparison comparison = against(base, candidate);
    CaseComparison row = comparison.rows().get(0);
    assertThat(row.verdict()).isEqualTo(Verdict.SLOWER);
    assertThat(row.clockEffect()).isTrue();
    assertThat(comparison.exitCode()).isEqualTo(Comparison.FINE);
    assertThat(strict(comparison).exitCode()).isEqualTo(Comparison.UNDECIDED);
    // On average as many cycles as the base, but a clock that jumps about shows nothing.
    Comparison unsteady =
        against(
            base,
            candidate.replace("[[1428],[1429],[1428],[1428]]", "[[1300],[1560],[1360],[1500]]"));
    assertThat(unsteady.rows().get(0).clockEffect()).isFalse();
    assertThat(unsteady.exitCode()).isEqualTo(Comparison.REGRESSION);
    Comparison real = against(base, candidate.replaceAll("142[89]", "1500"));
    assertThat(real.rows().get(0).clockEffect()).isFalse();
    assertThat(real.exitCode()).isEqualTo(Comparison.REGRESSION);
  }

  @Test
  void pairsSeeAChangeThatIsSmallBesideTheDriftOfBoth() throws IOException {
    // Forks drift from 10 to 13; in each pair the candidate takes 3 % longer.
    String base = "[[10],[11],[12],[13],[12.5]]";
    String candidate = "[[10.3],[11.34],[12.37],[13.38],[12.88]]";
    Comparison unpaired =
        against(entry("a.B.c", "ns/op", base), entry("a.B.c", "ns/op", candidate));
    assertThat(verdict(unpaired)).isEqualTo(Verdict.UNDECIDED);
    assertThat(verdict(paired(unpaired))).isEqualTo(Verdict.SLOWER);
    Comparison odd =
        against(entry("a.B.c", "ns/op", base), entry("a.B.c", "ns/op", "[[1],[1],[1],[1]]"));
    assertThat(paired(odd).rows().get(0).reason()).isEqualTo("5 forks against 4 are no pairs");
    Comparison otherUnit =
        against(entry("a.B.c", "ns/op", base), entry("a.B.c", "us/op", candidate));
    assertThat(paired(otherUnit).rows().get(0).reason()).isEqualTo("unit: ns/op against us/op");
    Comparison otherVm =
        against(
            entry("a.B.c", "ns/op", base),
            entry("a.B.c", "ns/op", candidate).replace("17.0.1", "21"));
    assertThat(verdict(paired(otherVm))).isEqualTo(Verdict.SLOWER);
  }

  private static Comparison paired(Comparison comparison) {
    return Comparison.of(
        comparison.base(),
        comparison.candidate(),
        new Comparison.Options(new Judge(), 0.01, Map.of(), Set.of(), false, true));
  }

  @Test
  void onlyAStrictComparisonFailsForWhatIsUndecided() throws IOException {
    String noisy = "[[9,9],[10,10],[11,11],[12,12]]";
    Comparison undecided = against(entry("a.B.c", "ns/op", FORKS), entry("a.B.c", "ns/op", noisy));
    assertThat(verdict(undecided)).isEqualTo(Verdict.UNDECIDED);
    assertThat(undecided.exitCode()).isEqualTo(Comparison.FINE);
    assertThat(strict(undecided).exitCode()).isEqualTo(Comparison.UNDECIDED);
    String base = entry("a.B.c", "ns/op", FORKS);
    assertThat(strict(against(base, base)).exitCode()).isEqualTo(Comparison.FINE);
  }

  @Test
  void oneJudgedCaseIsEnoughForACodeOfZero() throws IOException {
    String first = entry("a.B.c", "ns/op", FORKS);
    String second = entry("a.B.d", "ns/op", FORKS);
    Comparison one = Runs.compare(file("a.json", first), file("b.json", first, second));
    assertThat(one.exitCode()).isEqualTo(Comparison.FINE);
    Comparison none = Runs.compare(file("a.json", first), file("b.json", second));
    assertThat(none.exitCode()).isEqualTo(Comparison.REGRESSION);
  }

  private static Comparison strict(Comparison comparison) {
    return Comparison.of(
        comparison.base(),
        comparison.candidate(),
        new Comparison.Options(new Judge(), 0.01, Map.of(), Set.of(), true, false));
  }

  @Test
  void tenThousandCasesAreFast() throws IOException {
    double[] times = DoubleStream.iterate(100, t -> t + 1).limit(10_000).toArray();
    Path a = Runs.jmh(folder.resolve("a.json"), 1, 5, times);
    Path b = Runs.jmh(folder.resolve("b.json"), 2, 5, times);
    // It takes seconds; the rest of the time is for a machine with other work.
    Assertions.assertTimeout(
        Duration.ofMinutes(3),
        () -> {
          Comparison comparison = Runs.compare(a, b);
          assertThat(comparison.rows()).hasSize(10_000);
          assertThat(comparison.count(Verdict.SLOWER)).isZero();
          for (ComparisonReport form : ComparisonReport.values()) {
            form.write(comparison, Writer.nullWriter());
          }
        });
  }
}
