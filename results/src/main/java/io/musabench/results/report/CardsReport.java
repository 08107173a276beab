package io.musabench.results.report;

import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.run.RunData;
import io.musabench.results.stats.Stats;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
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
  /** Deviations below this are between good cards too. */
  static final double LEAST = 0.03;

  /** Cards that it takes to say which one is odd. */
  static final int LEAST_CARDS = 3;

  private final List<RunData> cards;
  private final List<Row> rows;

  /** One case: the times in the order of the cards, NaN where a card has none. */
  private record Row(CaseResult c, List<Double> times, double median, double limit) {
    double deviation(int card) {
      return times.get(card) / median - 1;
    }

    /** Of too few cards none does. */
    boolean differs(int card) {
      return times.stream().filter(Double::isFinite).count() >= LEAST_CARDS
          && Math.abs(deviation(card)) > limit;
    }
  }

  private CardsReport(List<RunData> cards) {
    this.cards = List.copyOf(cards);
    this.rows = rows(this.cards);
  }

  /**
   * A report over the runs of the cards of one machine.
   *
   * @param cards one run a card; at least one
   */
  public static String text(List<RunData> cards) {
    return new CardsReport(cards).text();
  }

  /** The numbers of the cards that differ from the rest, in the runs' own numbering. */
  public static Set<Integer> odd(List<RunData> cards) {
    CardsReport report = new CardsReport(cards);
    Set<Integer> numbers = new TreeSet<>();
    for (int card = 0; card < cards.size(); card++) {
      if (!report.differing(card).isEmpty()) {
        numbers.add(report.number(card));
      }
    }
    return numbers;
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

  private int number(int card) {
    Integer index = cards.get(card).environment().device().index();
    return index == null ? card : index;
  }

  /** The cases in which a card differs; none where there are too few cards to say so. */
  private List<Row> differing(int card) {
    return rows.stream().filter(row -> row.differs(card)).toList();
  }

  private String text() {
    StringBuilder out = new StringBuilder("Cards of this machine\n");
    cards(out);
    out.append('\n');
    times(out);
    verdict(out);
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
      double least = Double.POSITIVE_INFINITY;
      double most = 0;
      List<String> odd = new ArrayList<>();
      for (int card = 0; card < cards.size(); card++) {
        double time = row.times().get(card);
        cells.add(Double.isNaN(time) ? Units.NOTHING : Units.time(time));
        if (!Double.isNaN(time)) {
          least = Math.min(least, time);
          most = Math.max(most, time);
        }
        if (row.differs(card)) {
          odd.add("card %d %+.1f %%".formatted(number(card), 100 * row.deviation(card)));
        }
      }
      cells.add("%.1f %%".formatted(100 * (most / least - 1)));
      cells.add(String.join(", ", odd));
      table.row(cells.toArray(String[]::new));
    }
    out.append(table);
  }

  private void verdict(StringBuilder out) {
    if (cards.size() < LEAST_CARDS) {
      out.append("  with fewer than ")
          .append(LEAST_CARDS)
          .append(" cards nobody can tell which one is odd: only their ratio is shown\n");
      return;
    }
    Map<Integer, List<Row>> odd = new TreeMap<>();
    for (int card = 0; card < cards.size(); card++) {
      List<Row> differing = differing(card);
      if (!differing.isEmpty()) {
        odd.put(card, differing);
      }
    }
    if (odd.isEmpty()) {
      out.append("  no card differs from the others by more than 3 % and the noise\n");
    }
    odd.forEach(
        (card, cases) -> {
          double[] deviations = cases.stream().mapToDouble(row -> row.deviation(card)).toArray();
          double typical = Stats.median(deviations);
          out.append(
              "  card %d differs from the rest in %d of %d cases: %s by %.1f %% (median)%n"
                  .formatted(
                      number(card),
                      cases.size(),
                      rows.size(),
                      typical > 0 ? "slower" : "faster",
                      100 * Math.abs(typical)));
        });
  }
}
