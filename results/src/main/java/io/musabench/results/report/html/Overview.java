package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.compare.Comparison;
import io.musabench.results.compare.Verdict;
import io.musabench.results.report.Disturbances;
import io.musabench.results.report.Units;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Environment;
import io.musabench.results.serving.Summary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** What comes first: the verdict, what went wrong, and where all this was measured. */
final class Overview {
  /** What an environment does not tell. */
  private static final String UNKNOWN = "unknown";

  private Overview() {}

  /** The verdict in one line, and lines below it. */
  static ObjectNode verdict(
      List<ReportedRun> runs, Comparison comparison, List<Summary> serving, List<Cards> cards) {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    ArrayNode lines = node.putArray("lines");
    long cases = runs.stream().mapToLong(r -> r.data().cases().size()).sum();
    long failed =
        runs.stream().flatMap(r -> r.data().cases().stream()).filter(c -> !c.ok()).count();
    if (comparison != null) {
      int code = comparison.exitCode();
      boolean open =
          comparison.count(Verdict.UNDECIDED) > 0
              || comparison.rows().stream().anyMatch(r -> r.clockEffect());
      String word =
          switch (code) {
            case Comparison.REGRESSION -> "regression";
            case Comparison.NOT_COMPARABLE -> "not_comparable";
            default -> open ? "undecided" : "no_regression";
          };
      node.put(
          "state",
          code == Comparison.REGRESSION ? "bad" : word.equals("no_regression") ? "good" : "open");
      node.set("headline", Message.of("verdict." + word).json());
      for (Verdict verdict : Verdict.values()) {
        long count = comparison.count(verdict);
        if (count > 0) {
          lines.add(
              Message.of("verdict.count." + verdict.name(), "count", Long.toString(count)).json());
        }
      }
      if (Double.isFinite(comparison.geometricMean())) {
        lines.add(
            Message.of(
                    "verdict.mean", "change", Units.change(100 * (comparison.geometricMean() - 1)))
                .json());
      }
      lines.add(
          Message.of(
                  "verdict.sides",
                  "base",
                  comparison.base().name(),
                  "candidate",
                  comparison.candidate().name())
              .json());
    } else if (!runs.isEmpty()) {
      boolean odd = cards.stream().anyMatch(c -> !c.odd().isEmpty());
      node.put("state", failed > 0 ? "bad" : odd ? "open" : "good");
      node.set(
          "headline",
          Message.of(
                  failed > 0 ? "verdict.failed" : "verdict.measured",
                  "cases",
                  Long.toString(cases),
                  "failed",
                  Long.toString(failed))
              .json());
    } else {
      boolean passes = !serving.isEmpty() && serving.stream().allMatch(Summary::checklistPasses);
      node.put("state", passes ? "good" : "open");
      node.set(
          "headline",
          (serving.isEmpty() ? Message.of("verdict.predicted") : checklist(serving)).json());
    }
    cards.forEach(c -> c.odd().forEach(line -> lines.add(line.json())));
    if (!runs.isEmpty() && !serving.isEmpty()) {
      lines.add(checklist(serving).json());
    }
    if (comparison != null && failed > 0) {
      lines.add(Message.of("verdict.also_failed", "failed", Long.toString(failed)).json());
    }
    for (ReportedRun run : runs) {
      for (Message line : cautions(run)) {
        lines.add(line.json());
      }
    }
    return node;
  }

  private static Message checklist(List<Summary> serving) {
    return Message.of(
        "verdict.checklist",
        "passing",
        Long.toString(serving.stream().filter(Summary::checklistPasses).count()),
        "all",
        Integer.toString(serving.size()));
  }

  /** What nobody may overlook before reading a number. */
  private static List<Message> cautions(ReportedRun run) {
    List<Message> lines = new ArrayList<>();
    Environment e = run.data().environment();
    if ("host".equals(e.target())) {
      lines.add(Message.of("verdict.host", "run", run.data().name()));
    }
    String faults = e.settings().get(Environment.FAULTS);
    if (faults != null) {
      lines.add(Message.of("verdict.faults", "run", run.data().name(), "faults", faults));
    }
    String injected = e.versions().get(Environment.INJECTED);
    if (injected != null) {
      lines.add(Message.of("verdict.injected", "run", run.data().name(), "share", injected));
    }
    Disturbances.of(run.data())
        .forEach(
            w ->
                lines.add(
                    Message.of(
                        "verdict.warning", "run", run.data().name(), "warning", Message.said(w))));
    return lines;
  }

  /** Cases without a number, and why. */
  static Section failures(List<ReportedRun> runs, Cases cases) {
    Section section = new Section("failures");
    Table table =
        new Table("failures", Message.of("table.failures"))
            .column("case", Type.CODE)
            .column("run", Type.TEXT)
            .column("state", Type.STATE)
            .column("reason", Type.TEXT);
    for (int i = 0; i < runs.size(); i++) {
      for (CaseResult c : runs.get(i).data().cases()) {
        if (!c.ok()) {
          table.caseRow(
              cases.of(i, c.id()),
              c.id(),
              ReportModel.letter(i),
              c.status().text().toUpperCase(java.util.Locale.ROOT),
              Message.said(c.reason()));
        }
      }
    }
    return section.add(table);
  }

  /** One column a run; a row that says the same as another is there all the same. */
  static Section environment(List<ReportedRun> runs) {
    Section section = new Section("environment");
    Table table = new Table("environment", Message.of("table.environment"));
    table.column("what", Type.TEXT);
    for (int i = 0; i < runs.size(); i++) {
      table.column(
          "run_" + ReportModel.letter(i),
          Message.literal(ReportModel.letter(i) + ": " + runs.get(i).data().name()),
          Type.TEXT);
    }
    List<Map<String, String>> columns =
        runs.stream().map(r -> facts(r.data().environment())).toList();
    Set<String> names = new LinkedHashSet<>();
    columns.forEach(c -> names.addAll(c.keySet()));
    for (String name : names) {
      List<Object> row = new ArrayList<>();
      int space = name.indexOf(' ');
      row.add(
          space < 0
              ? Message.of(name)
              : Message.of(name.substring(0, space), "name", name.substring(space + 1)));
      columns.forEach(c -> row.add(value(c.getOrDefault(name, ""))));
      table.row(row.toArray());
    }
    return section.add(table);
  }

  private static Object value(String text) {
    return switch (text) {
      case UNKNOWN -> Message.of("word.unknown");
      case "true" -> Message.of("word.yes");
      case "false" -> Message.of("word.no");
      default -> Message.said(text);
    };
  }

  /** By the text that names them, and after a space the name of a library or setting. */
  private static Map<String, String> facts(Environment e) {
    Map<String, String> all = new LinkedHashMap<>();
    put(all, "measured", e.createdUtc());
    put(all, "target", e.target());
    Environment.DeviceInfo d = e.device();
    put(all, "device", d.name());
    put(all, "compute_units", d.computeUnits());
    put(all, "memory", d.memoryBytes() == null ? null : Units.gib(d.memoryBytes()));
    put(all, "driver", d.driverVersion());
    put(all, "runtime", d.runtimeVersion());
    Environment.Clocks clocks = e.clocks();
    put(all, "clock_mode", of(clocks, Environment.Clocks::mode));
    put(all, "core_clock", unit(of(clocks, Environment.Clocks::coreMhz), "MHz"));
    put(all, "memory_clock", unit(of(clocks, Environment.Clocks::memoryMhz), "MHz"));
    put(all, "power", unit(of(clocks, Environment.Clocks::powerWatts), "W"));
    put(all, "temperature", unit(of(clocks, Environment.Clocks::temperatureCelsius), "°C"));
    Environment.Machine m = e.machine();
    put(all, "cpu", of(m, Environment.Machine::cpu));
    put(all, "cpus", of(m, Environment.Machine::logicalCpus));
    put(all, "os", of(m, Environment.Machine::os));
    put(all, "kernel", of(m, Environment.Machine::kernel));
    put(all, "virtual", of(m, Environment.Machine::hypervisor));
    put(all, "load", of(m, Environment.Machine::loadAverage));
    put(all, "jvm", of(e.jvm(), j -> j.name() + " " + j.version()));
    put(
        all,
        "revision",
        of(
            e.git(),
            g ->
                g.revision() == null
                    ? null
                    : g.revision() + (Boolean.TRUE.equals(g.dirty()) ? " + changes" : "")));
    for (Environment.Library library : e.libraries()) {
      String version = library.version() == null ? "" : " " + library.version();
      String hash = library.sha256() == null ? "" : ", SHA-256 " + library.sha256();
      all.put("environment.library " + library.role(), library.path() + version + hash);
    }
    e.versions()
        .forEach(
            (name, value) ->
                all.put("environment.version " + name, value == null ? UNKNOWN : value));
    e.settings().forEach((name, value) -> all.put("environment.setting " + name, value));
    return all;
  }

  private static void put(Map<String, String> all, String name, Object value) {
    all.put("environment." + name, value == null ? UNKNOWN : value.toString());
  }

  private static <T, R> R of(T from, Function<T, R> field) {
    return from == null ? null : field.apply(from);
  }

  private static String unit(Double value, String unit) {
    return value == null ? null : Units.number(value) + " " + unit;
  }
}
