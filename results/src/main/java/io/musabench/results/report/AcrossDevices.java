package io.musabench.results.report;

import io.musabench.results.Printable;
import io.musabench.results.devices.DataSheet;
import io.musabench.results.devices.Figure;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Params;
import io.musabench.results.run.Roofs;
import io.musabench.results.run.RunData;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Two runs on different devices side by side. There is no verdict: a slower device is no
 * regression. What is not known, such as a peak that nobody published, stays a dash.
 */
public final class AcrossDevices {
  private static final String DTYPE = "dtype";

  /**
   * One case on one device; a rate or share that does not exist is NaN.
   *
   * @param timeUs median device time, or host time where the case has no other, in microseconds
   * @param gbPerS bytes that have to move over the time, in 10<sup>9</sup> a second
   * @param tflopPerS arithmetic over the time, in 10<sup>12</sup> a second
   * @param percentOfRoof of the roof that binds, as measured in the same run
   * @param percentOfSheet of the same quantity on the data sheet
   * @param bound {@code read} or {@code flops}; empty where the roofs do not tell
   */
  public record Cell(
      double timeUs,
      double gbPerS,
      double tflopPerS,
      double percentOfRoof,
      double percentOfSheet,
      String bound) {}

  /**
   * One case on both devices.
   *
   * @param a on the first
   * @param b on the second
   */
  public record Row(CaseResult c, Cell a, Cell b) {
    /** Time on the second over time on the first. */
    public double ratio() {
      return b.timeUs() / a.timeUs();
    }
  }

  private final RunData a;
  private final RunData b;
  private final StringBuilder out = new StringBuilder();

  private AcrossDevices(RunData a, RunData b) {
    this.a = a;
    this.b = b;
  }

  /** The cases that both runs measured, in the order of the first. */
  public static List<Row> rows(RunData a, RunData b) {
    Map<String, CaseResult> other = b.measured();
    Roofs roofsA = a.roofs();
    Roofs roofsB = b.roofs();
    Optional<DataSheet> sheetA = sheet(a);
    Optional<DataSheet> sheetB = sheet(b);
    List<Row> rows = new ArrayList<>();
    a.measured()
        .forEach(
            (id, c) -> {
              if (other.containsKey(id)) {
                rows.add(new Row(c, cell(c, roofsA, sheetA), cell(other.get(id), roofsB, sheetB)));
              }
            });
    return rows;
  }

  /** The data sheet of a run's device, if one comes with the suite. */
  public static Optional<DataSheet> sheet(RunData run) {
    String name = run.environment().device().name();
    return name == null ? Optional.empty() : DataSheet.named(name);
  }

  private static Cell cell(CaseResult c, Roofs roofs, Optional<DataSheet> sheet) {
    Roofs.Share share = roofs.share(c);
    boolean reads = share != null && share.bound() == Roofs.Bound.READ_BANDWIDTH;
    double ofSheet = Double.NaN;
    if (share != null && sheet.isPresent()) {
      ofSheet =
          reads
              ? 100 * c.gbPerS() / published(sheet.get(), DataSheet.MEMORY_GB_PER_S)
              : 100 * c.tflopPerS() / published(sheet.get(), rate(c));
    }
    return new Cell(
        c.timeUs(),
        c.gbPerS(),
        c.tflopPerS(),
        share == null ? Double.NaN : share.percent(),
        ofSheet,
        RunReport.bound(share));
  }

  /** Name of the data sheet's figure for the case's element type. */
  private static String rate(CaseResult c) {
    String dtype = c.param(DTYPE);
    return (dtype.isEmpty() ? "bf16" : dtype) + "_tflops";
  }

  /** A share of a figure that somebody guessed would itself be a guess. */
  private static double published(DataSheet sheet, String name) {
    Figure figure = sheet.figures().get(name);
    return figure == null || figure.confidence() == Figure.Confidence.ASSUMED
        ? Double.NaN
        : figure.value();
  }

  /** The report. */
  public static String text(RunData a, RunData b) {
    return new AcrossDevices(a, b).text();
  }

  private String text() {
    List<Row> rows = rows(a, b);
    device("A", a);
    device("B", b);
    cases(rows.stream().filter(row -> !row.c().group().equals(CaseResult.STEP)).toList());
    steps(rows.stream().filter(row -> row.c().group().equals(CaseResult.STEP)).toList());
    tpot();
    only("A", a, b);
    only("B", b, a);
    return out.toString();
  }

  private void device(String letter, RunData run) {
    String name = run.environment().device().name();
    out.append(letter).append("  ").append(name == null ? "unknown device" : Printable.line(name));
    out.append(", ").append(Printable.line(run.name())).append('\n');
    Roofs roofs = run.roofs();
    out.append("   measured roofs: read ").append(Units.number(roofs.readGbPerS()));
    out.append(" GB/s, multiply-adds ").append(Units.number(roofs.tflopPerS()));
    out.append(" TFLOP/s\n");
    Optional<DataSheet> sheet = sheet(run);
    if (sheet.isEmpty()) {
      out.append("   data sheet: none\n");
      return;
    }
    for (String figureName : List.of(DataSheet.MEMORY_GB_PER_S, DataSheet.BF16_TFLOPS)) {
      Figure figure = sheet.get().figures().get(figureName);
      out.append("   data sheet: ").append(figureName).append(' ');
      if (figure == null) {
        out.append("unknown\n");
      } else if (figure.confidence() == Figure.Confidence.ASSUMED) {
        out.append("unknown; not taken: ").append(Units.number(figure.value()));
        out.append(" [assumed] ").append(figure.source()).append('\n');
      } else {
        out.append(Units.number(figure.value())).append(" [");
        out.append(figure.confidence().name().toLowerCase(Locale.ROOT)).append("] ");
        out.append(figure.source()).append('\n');
      }
    }
  }

  private void cases(List<Row> rows) {
    TextTable table =
        new TextTable(
            "kernel",
            "case",
            "",
            ">time",
            ">GB/s",
            ">TFLOP/s",
            ">of roof",
            ">of sheet",
            "bound",
            ">B / A");
    Map<String, String> shared = shared(rows);
    for (Row row : rows) {
      line(table, row.c().shortName(), own(row.c(), shared), "A", row.a(), "");
      line(table, "", "", "B", row.b(), Units.number(row.ratio()));
    }
    section("Cases, medians" + (shared.isEmpty() ? "" : " (" + words(shared) + ")"), table);
  }

  private static void line(
      TextTable table, String kernel, String name, String device, Cell cell, String ratio) {
    table.row(
        kernel,
        name,
        device,
        Units.time(cell.timeUs()),
        Units.number(cell.gbPerS()),
        Units.number(cell.tflopPerS()),
        Units.percent(cell.percentOfRoof()),
        Units.percent(cell.percentOfSheet()),
        cell.bound(),
        ratio);
  }

  private static Map<String, String> shared(List<Row> rows) {
    Map<String, String> shared = new TreeMap<>();
    Set<String> differing = new LinkedHashSet<>();
    for (Row row : rows) {
      row.c()
          .params()
          .forEach(
              (name, value) -> {
                String before = shared.putIfAbsent(name, value);
                if (before != null && !before.equals(value)) {
                  differing.add(name);
                }
              });
    }
    shared.keySet().removeAll(differing);
    return shared;
  }

  private static String own(CaseResult c, Map<String, String> shared) {
    Map<String, String> own = new TreeMap<>(c.params());
    own.keySet().removeAll(shared.keySet());
    return words(own);
  }

  private static String words(Map<String, String> params) {
    List<String> words = new ArrayList<>();
    params.forEach((name, value) -> words.add(name + "=" + value));
    return String.join(" ", words);
  }

  private void steps(List<Row> rows) {
    TextTable table =
        new TextTable("step", "model", "batch", "mode", ">A", ">B", ">B / A", ">kernels");
    for (Row row : rows) {
      CaseResult c = row.c();
      table.row(
          RunReport.phase(c),
          RunReport.model(c),
          c.param(Params.BATCH),
          c.param(Params.MODE),
          Units.time(row.a().timeUs()),
          Units.time(row.b().timeUs()),
          Units.number(row.ratio()),
          c.kernels() == 0 ? Units.NOTHING : Integer.toString(c.kernels()));
    }
    section("Steps, measured whole", table);
  }

  private void tpot() {
    TextTable table =
        new TextTable(
            "model",
            "mode",
            ">in flight",
            ">context",
            ">input",
            ">TPOT A",
            ">TPOT B",
            ">B / A",
            ">TTFT A",
            ">TTFT B");
    Map<String, ServedDecode> other = new LinkedHashMap<>();
    served(b).forEach(s -> other.put(s.decode().id(), s));
    for (ServedDecode onA : served(a)) {
      ServedDecode onB = other.get(onA.decode().id());
      if (onB == null || onB.input() != onA.input()) {
        continue;
      }
      table.row(
          RunReport.model(onA.decode()),
          onA.decode().param(Params.MODE),
          Integer.toString(onA.batch().size()),
          Integer.toString(onA.batch().maxKv()),
          Integer.toString(onA.input()),
          onA.tpot(),
          onB.tpot(),
          onA.saturated() || onB.saturated()
              ? Units.NOTHING
              : Units.number(onB.prediction().tpot().value() / onA.prediction().tpot().value()),
          onA.ttft(),
          onB.ttft());
    }
    section(
        "TPOT, predicted from the measured steps (not itself measured), answers of "
            + ServedDecode.OUTPUT_TOKENS
            + " tokens",
        table);
  }

  private static List<ServedDecode> served(RunData run) {
    return ServedDecode.of(run.measured(CaseResult.STEP));
  }

  private void only(String letter, RunData run, RunData other) {
    Set<String> ids = new LinkedHashSet<>(run.measured().keySet());
    ids.removeAll(other.measured().keySet());
    if (!ids.isEmpty()) {
      out.append("\nOnly in ").append(letter).append('\n');
      ids.forEach(id -> out.append("  ").append(Printable.line(id)).append('\n'));
    }
  }

  private void section(String title, TextTable table) {
    if (!table.isEmpty()) {
      out.append('\n').append(title).append('\n').append(table);
    }
  }
}
