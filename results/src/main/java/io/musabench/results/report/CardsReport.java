package io.musabench.results.report;

import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.RunData;
import io.musabench.results.stats.Stats;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The cards of one machine side by side, each measured by itself, and which of them differs from
 * the rest.
 *
 * <p>A case's reference is the median of the cards' times, which one odd card does not move. A card
 * differs in a case if its time is off by more than 3 % and by more than the case's noise, half the
 * distance between the 10 % and the 90 % quantile over the median, as it is on the middle card. Of
 * two cards nobody can tell which is the odd one, so they get the ratio and no verdict.
 */
public final class CardsReport {
  /** Deviations below this, as a share, are between good cards too. */
  public static final double LEAST = 0.03;

  /** Cards that it takes to say which one is odd. */
  static final int LEAST_CARDS = 3;

  private final List<RunData> cards;
  private final List<Row> rows;

  /**
   * One case on every card.
   *
   * @param c the case as the first card that has it tells it
   * @param times in microseconds, in the order of the cards; NaN where a card has none
   * @param median of the cards' times
   * @param limit deviation from it, as a share, above which a card differs
   */
  public record Row(CaseResult c, List<Double> times, double median, double limit) {
    /** By how much a card is off the median, as a share; NaN if it has no time. */
    public double deviation(int card) {
      return times.get(card) / median - 1;
    }

    /** By how much the slowest card takes longer than the fastest, as a share. */
    public double spread() {
      DoubleSummaryStatistics known =
          times.stream().filter(Double::isFinite).mapToDouble(t -> t).summaryStatistics();
      return known.getMax() / known.getMin() - 1;
    }

    /** Whether a card differs from the rest; of too few cards none does. */
    public boolean differs(int card) {
      return times.stream().filter(Double::isFinite).count() >= LEAST_CARDS
          && Math.abs(deviation(card)) > limit;
    }
  }

  /**
   * A card that differs from the rest.
   *
   * @param card its place among the runs
   * @param number of the card, in the runs' own numbering
   * @param cases in how many it differs
   * @param of so many
   * @param deviation median of its deviations in these, as a share; above 0 it is slower
   */
  public record Odd(int card, int number, int cases, int of, double deviation) {}

  /**
   * A report over the runs of the cards of one machine.
   *
   * @param cards one run a card; at least one
   */
  public CardsReport(List<RunData> cards) {
    this.cards = List.copyOf(cards);
    this.rows = rows(this.cards);
  }

  /**
   * Whether runs are of cards that should be equal: devices of one name, each with a number of its
   * own.
   */
  public static boolean areCards(List<RunData> runs) {
    List<Environment.DeviceInfo> devices =
        runs.stream().map(r -> r.environment().device()).toList();
    Set<Integer> numbers = new HashSet<>();
    return runs.size() > 1
        && devices.stream().allMatch(d -> d.index() != null && numbers.add(d.index()))
        && devices.stream().map(Environment.DeviceInfo::name).distinct().count() == 1
        && runs.stream().map(r -> r.environment().target()).distinct().count() == 1;
  }

  /** The cases that any card has a time of. */
  public List<Row> rows() {
    return List.copyOf(rows);
  }

  /** Whether there are enough cards to say which one is odd. */
  public boolean judges() {
    return cards.size() >= LEAST_CARDS;
  }

  /** The cards that differ from the rest. */
  public List<Odd> odd() {
    List<Odd> odd = new ArrayList<>();
    for (int card = 0; card < cards.size(); card++) {
      int at = card;
      double[] deviations =
          rows.stream()
              .filter(row -> row.differs(at))
              .mapToDouble(row -> row.deviation(at))
              .toArray();
      if (deviations.length > 0) {
        odd.add(
            new Odd(card, number(card), deviations.length, rows.size(), Stats.median(deviations)));
      }
    }
    return odd;
  }

  private static List<Row> rows(List<RunData> cards) {
    Map<String, CaseResult> cases = new LinkedHashMap<>();
    cards.forEach(run -> run.cases().forEach(c -> cases.putIfAbsent(c.id(), c)));
    List<Row> rows = new ArrayList<>();
    List<Map<String, CaseResult>> byCard = cards.stream().map(RunData::measured).toList();
    for (CaseResult c : cases.values()) {
      List<CaseResult> measured =
          byCard.stream().map(card -> card.get(c.id())).collect(Collectors.toList());
      List<Double> times = measured.stream().map(m -> m == null ? Double.NaN : m.timeUs()).toList();
      double[] known = times.stream().mapToDouble(t -> t).filter(Double::isFinite).toArray();
      if (known.length == 0) {
        continue;
      }
      double[] noise =
          measured.stream()
              .filter(Objects::nonNull)
              .mapToDouble(CardsReport::noise)
              .filter(Double::isFinite)
              .toArray();
      double limit = noise.length == 0 ? LEAST : Math.max(LEAST, Stats.median(noise));
      rows.add(new Row(c, times, Stats.median(known), limit));
    }
    return rows;
  }

  private static double noise(CaseResult c) {
    return (c.deviceTimeP90Us() - c.deviceTimeP10Us()) / (2 * c.deviceTimeMedianUs());
  }

  /** Number of a card in the runs' own numbering. */
  public int number(int card) {
    Integer index = cards.get(card).environment().device().index();
    return index == null ? card : index;
  }

  /** For a terminal. */
  public String text() {
    StringBuilder out = new StringBuilder("Cards of this machine\n");
    cards(out);
    out.append('\n');
    times(out);
    verdict().forEach(line -> out.append("  ").append(line).append('\n'));
    return out.toString();
  }

  private void cards(StringBuilder out) {
    TextTable table =
        new TextTable(
            "card", "name", ">clock", ">of", ">temp.", ">power", ">errors", "uuid", "run");
    for (int card = 0; card < cards.size(); card++) {
      Environment environment = cards.get(card).environment();
      Environment.Clocks end = environment.clocksAtEnd();
      table.row(
          Integer.toString(number(card)),
          String.valueOf(environment.device().name()),
          value(end.coreMhz(), "%.0f MHz"),
          value(end.maxCoreMhz(), "%.0f MHz"),
          value(end.temperatureCelsius(), "%.0f C"),
          value(end.powerWatts(), "%.0f W"),
          end.eccErrors() == null ? Units.NOTHING : end.eccErrors().toString(),
          environment.versions().getOrDefault("gpu_uuid", Units.NOTHING),
          cards.get(card).name());
    }
    out.append(table);
  }

  private static String value(Double value, String format) {
    return value == null ? Units.NOTHING : String.format(Locale.ROOT, format, value);
  }

  private void times(StringBuilder out) {
    List<String> headers = new ArrayList<>(List.of("case"));
    for (int card = 0; card < cards.size(); card++) {
      headers.add(">card " + number(card));
    }
    headers.add(">spread");
    headers.add("differs");
    TextTable table = new TextTable(headers.toArray(String[]::new));
    for (Row row : rows) {
      List<String> cells = new ArrayList<>();
      cells.add(row.c().id());
      List<String> odd = new ArrayList<>();
      for (int card = 0; card < cards.size(); card++) {
        double time = row.times().get(card);
        cells.add(Double.isNaN(time) ? Units.NOTHING : Units.time(time));
        if (row.differs(card)) {
          odd.add("card %d %+.1f %%".formatted(number(card), 100 * row.deviation(card)));
        }
      }
      cells.add("%.1f %%".formatted(100 * row.spread()));
      cells.add(String.join(", ", odd));
      table.row(cells.toArray(String[]::new));
    }
    out.append(table);
  }

  /** Which card is odd, or why none is named, one line each. */
  public List<String> verdict() {
    if (!judges()) {
      return List.of(
          "with fewer than "
              + LEAST_CARDS
              + " cards nobody can tell which one is odd: only their ratio is shown");
    }
    List<Odd> odd = odd();
    return odd.isEmpty()
        ? List.of("no card differs from the others by more than 3 % and the noise")
        : odd.stream()
            .map(
                o ->
                    "card %d differs from the rest in %d of %d cases: %s by %.1f %% (median)"
                        .formatted(
                            o.number(),
                            o.cases(),
                            o.of(),
                            o.deviation() > 0 ? "slower" : "faster",
                            100 * Math.abs(o.deviation())))
            .toList();
  }
}
