package io.musabench.results.report.html;

import io.musabench.results.report.Units;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Params;
import io.musabench.results.run.Roofs;
import io.musabench.results.stats.SampleShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The distribution of any case's samples, and the table of all cases. */
final class AllCases {
  private AllCases() {}

  /** What the samples of a case say beside their median, as words that are translated. */
  private static List<String> flags(SampleShape shape, double clockRange) {
    List<String> flags = new ArrayList<>();
    if (shape != null && shape.modes() != null) {
      flags.add("bimodal");
    }
    if (shape != null && shape.drifting()) {
      flags.add("drifting");
    }
    if (shape != null && shape.forksDiffer()) {
      flags.add("forks_differ");
    }
    if (clockRange > SampleShape.CLOCK_MOVED) {
      flags.add("clock_moved");
    }
    return flags;
  }

  static Section samples(List<ReportedRun> runs, List<RunSamples> samples, Cases cases) {
    Section section = new Section("samples");
    Table table =
        new Table("samples", Message.of("table.samples"))
            .column("run", Type.TEXT)
            .column("case", Type.CODE)
            .column("flag", Type.STATE)
            .column("detail", Type.TEXT);
    for (int i = 0; i < runs.size(); i++) {
      for (CaseResult c : runs.get(i).data().cases()) {
        SampleShape shape = samples.get(i).shape(c.id());
        double clock = samples.get(i).clockRange(c.id());
        for (String flag : flags(shape, clock)) {
          table.caseRow(
              cases.of(i, c.id()),
              ReportModel.letter(i),
              c.id(),
              flag.toUpperCase(Locale.ROOT),
              detail(flag, shape, clock));
        }
      }
    }
    section.note(Message.of("note.flags"));
    if (table.isEmpty()) {
      section.note(Message.of("note.no_flags"));
    }
    return section.add(table);
  }

  private static Message detail(String flag, SampleShape shape, double clock) {
    return switch (flag) {
      case "bimodal" ->
          Message.of(
              "flag.bimodal",
              "low",
              Units.time(shape.modes().low()),
              "high",
              Units.time(shape.modes().high()),
              "share",
              Units.percent(100 * shape.modes().lowShare()));
      case "drifting" -> Message.of("flag.drifting", "change", Units.change(100 * shape.drift()));
      case "forks_differ" ->
          Message.of("flag.forks_differ", "change", Units.percent(100 * shape.betweenForks()));
      default -> Message.of("flag.clock_moved", "change", Units.percent(100 * clock));
    };
  }

  static Section table(List<ReportedRun> runs, List<RunSamples> samples, Cases cases) {
    Section section = new Section("cases");
    Table table =
        new Table("cases", Message.of("table.cases"))
            .column("run", Type.TEXT)
            .column("benchmark", Type.CODE)
            .column("params", Type.CODE)
            .column("state", Type.STATE)
            .column("device_time", Type.TIME_US)
            .column("p10", Type.TIME_US)
            .column("p90", Type.TIME_US)
            .column("host_time", Type.TIME_US)
            .column("samples", Type.COUNT)
            .column("forks", Type.COUNT)
            .column("gb_per_s", Type.NUMBER)
            .column("tflop_per_s", Type.NUMBER)
            .column("of_roof", Type.PERCENT)
            .column("flag", Type.STATE)
            .column("core_clock_mhz", Type.NUMBER)
            .column("other_cpu", Type.PERCENT)
            .column("unmet", Type.TEXT)
            .column("check", Type.TEXT)
            .column("note", Type.TEXT);
    for (int i = 0; i < runs.size(); i++) {
      Roofs roofs = runs.get(i).data().roofs();
      for (CaseResult c : runs.get(i).data().cases()) {
        Roofs.Share share = roofs.share(c);
        List<String> flags = flags(samples.get(i).shape(c.id()), samples.get(i).clockRange(c.id()));
        table.caseRow(
            cases.of(i, c.id()),
            ReportModel.letter(i),
            c.benchmark(),
            Params.format(c.params()).replace(";", " "),
            c.status(),
            c.deviceTimeMedianUs(),
            c.deviceTimeP10Us(),
            c.deviceTimeP90Us(),
            c.hostTimeMedianUs(),
            c.samples(),
            c.forks(),
            c.gbPerS(),
            c.tflopPerS(),
            share == null ? Double.NaN : share.percent(),
            flags.isEmpty() ? null : String.join(" ", flags).toUpperCase(Locale.ROOT),
            c.conditions().coreClockMhz(),
            c.conditions().otherCpuPercent(),
            Message.said(c.conditions().unmet()),
            Message.said(c.check()),
            Message.said(c.note().isEmpty() ? c.reason() : c.note()));
      }
    }
    return section.add(table);
  }
}
