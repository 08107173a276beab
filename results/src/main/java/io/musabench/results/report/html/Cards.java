package io.musabench.results.report.html;

import io.musabench.results.report.CardsReport;
import io.musabench.results.report.Units;
import io.musabench.results.run.Environment;
import io.musabench.results.run.RunData;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Cards of one kind beside each other.
 *
 * @param runs the places of their runs in the report
 * @param device name that they share
 * @param report what is said of them
 */
record Cards(List<Integer> runs, String device, CardsReport report) {
  /** The runs of each kind of device, where they are of different cards. */
  static List<Cards> of(List<ReportedRun> all) {
    Map<String, List<Integer>> devices = new LinkedHashMap<>();
    for (int i = 0; i < all.size(); i++) {
      devices.computeIfAbsent(all.get(i).device(), d -> new ArrayList<>()).add(i);
    }
    List<Cards> groups = new ArrayList<>();
    devices.forEach(
        (device, runs) -> {
          List<RunData> cards = runs.stream().map(i -> all.get(i).data()).toList();
          if (CardsReport.areCards(cards)) {
            groups.add(new Cards(runs, device, new CardsReport(cards)));
          }
        });
    return groups;
  }

  static Section section(List<Cards> groups, List<ReportedRun> all, Cases cases) {
    Section section = new Section("cards");
    for (Cards group : groups) {
      group.verdict().forEach(section::note);
      section.add(group.deviations(cases)).add(group.times(cases)).add(group.state(all));
    }
    return section;
  }

  /** The odd cards by name, or that there is none to name. */
  private List<Message> verdict() {
    if (!report.judges()) {
      return List.of(Message.of("note.cards_few", "device", device));
    }
    List<Message> odd = odd();
    return odd.isEmpty() ? List.of(Message.of("note.cards_equal", "device", device)) : odd;
  }

  /** One line for each card that differs from the rest. */
  List<Message> odd() {
    return report.odd().stream()
        .map(
            o ->
                Message.of(
                    o.deviation() > 0 ? "verdict.card_slower" : "verdict.card_faster",
                    "device",
                    device,
                    "number",
                    Integer.toString(o.number()),
                    "cases",
                    Integer.toString(o.cases()),
                    "all",
                    Integer.toString(o.of()),
                    "share",
                    Units.percent(100 * Math.abs(o.deviation()))))
        .toList();
  }

  private String id(String what) {
    return what + "-" + ReportModel.slug(device);
  }

  private int number(CardsReport.Row row, int card, Cases cases) {
    return Double.isNaN(row.times().get(card))
        ? Table.NO_CASE
        : cases.of(runs.get(card), row.c().id());
  }

  /** By the length of the case, because short ones are the noisy ones. */
  private Chart deviations(Cases cases) {
    Chart chart =
        new Chart(id("cards"), Message.of("chart.cards", "device", device))
            .x("time", Type.TIME_US, true)
            .y("off_median", Type.CHANGE, false)
            .note(Message.of("note.cards"));
    double least = Double.POSITIVE_INFINITY;
    double most = 0;
    for (int card = 0; card < runs.size(); card++) {
      Chart.Series series =
          chart.series(
              Message.of(
                  "series.card",
                  "number",
                  Integer.toString(report.number(card)),
                  "run",
                  ReportModel.letter(runs.get(card))),
              Kind.MEASURED,
              Chart.Shape.POINTS);
      for (CardsReport.Row row : report.rows()) {
        series.point(
            number(row, card, cases),
            row.median(),
            100 * row.deviation(card),
            Double.NaN,
            Double.NaN);
        least = Math.min(least, row.median());
        most = Math.max(most, row.median());
      }
    }
    if (most > 0) {
      for (int sign : new int[] {1, -1}) {
        double limit = sign * 100 * CardsReport.LEAST;
        chart
            .series(
                Message.of("series.cards_limit", "limit", Units.change(limit)),
                Kind.LIMIT,
                Chart.Shape.RULE)
            .point(least, limit)
            .point(most, limit);
      }
    }
    return chart;
  }

  private Table times(Cases cases) {
    Table table =
        new Table(id("cards-times"), Message.of("table.cards_times", "device", device))
            .column("case", Type.CODE);
    for (int card = 0; card < runs.size(); card++) {
      String number = Integer.toString(report.number(card));
      table.column(
          "card_" + number, Message.of("column.card_number", "number", number), Type.TIME_US);
    }
    table.column("spread", Type.PERCENT).column("differs", Type.TEXT);
    for (CardsReport.Row row : report.rows()) {
      List<Object> cells = new ArrayList<>();
      cells.add(row.c().id());
      List<String> odd = new ArrayList<>();
      int measured = Table.NO_CASE;
      for (int card = 0; card < runs.size(); card++) {
        cells.add(row.times().get(card));
        if (row.differs(card)) {
          odd.add(report.number(card) + ": " + Units.change(100 * row.deviation(card)));
        }
        measured = measured == Table.NO_CASE ? number(row, card, cases) : measured;
      }
      cells.add(100 * row.spread());
      cells.add(String.join(", ", odd));
      table.caseRow(measured, cells.toArray());
    }
    return table;
  }

  private Table state(List<ReportedRun> all) {
    Table table =
        new Table(id("cards-state"), Message.of("table.cards_state", "device", device))
            .column("card", Type.COUNT)
            .column("run", Type.TEXT)
            .column("core_clock_mhz", Type.NUMBER)
            .column("max_clock_mhz", Type.NUMBER)
            .column("temperature_celsius", Type.NUMBER)
            .column("power_watts", Type.NUMBER)
            .column("memory_errors", Type.COUNT)
            .column("uuid", Type.CODE);
    for (int card = 0; card < runs.size(); card++) {
      ReportedRun run = all.get(runs.get(card));
      Environment environment = run.data().environment();
      Environment.Clocks end = environment.clocksAtEnd();
      table.row(
          report.number(card),
          ReportModel.letter(runs.get(card)) + ": " + run.data().name(),
          end.coreMhz(),
          end.maxCoreMhz(),
          end.temperatureCelsius(),
          end.powerWatts(),
          end.eccErrors(),
          environment.versions().get("gpu_uuid"));
    }
    return table;
  }
}
