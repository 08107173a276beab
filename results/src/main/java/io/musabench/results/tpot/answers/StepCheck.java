package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.Printable;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.report.JsonText;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Params;
import io.musabench.results.run.RunData;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.stats.Stats;
import io.musabench.results.tpot.Estimate;
import io.musabench.results.tpot.Intervals;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.StepModel;
import io.musabench.results.tpot.StepTime;
import io.musabench.results.tpot.kernels.KernelSource;
import io.musabench.results.tpot.kernels.KernelSources;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * Steps predicted from kernels that were measured one by one, in runs of their own, beside the same
 * steps measured as a whole.
 *
 * <p>A machine that becomes faster or slower between the two shows as an error of the prediction.
 * Rounds of kernels and steps in turn keep that small: each step is held against the kernels of its
 * own round, and the median of the rounds is judged.
 */
public final class StepCheck {
  /** Raised when a field changes its meaning or goes away; new fields do not raise it. */
  public static final int SCHEMA_VERSION = 1;

  /**
   * How far a step may be off.
   *
   * @param graph of graphs, as a share: their device time is their kernels and a known cost a node
   * @param eager of eager steps: the host's work beside them adds noise
   */
  public record Limits(double graph, double eager) {
    /** What this suite aims at. */
    public static final Limits AIM = new Limits(0.05, 0.10);
  }

  /**
   * Kernels and the steps that were measured beside them.
   *
   * @param kernels run directories, or other kernel times, of which the steps are predicted
   * @param steps run directories with measured steps
   */
  public record Round(List<Path> kernels, List<Path> steps) {
    /** Copies the lists. */
    public Round {
      kernels = List.copyOf(kernels);
      steps = List.copyOf(steps);
    }
  }

  private final String kernels;
  private final List<String> remarks;
  private final List<Line> lines;

  /**
   * One step in one round.
   *
   * @param predicted from kernels
   * @param interval of the predicted time
   * @param measuredSeconds median of the whole step
   * @param measuredError half the width of its 95 % interval, in seconds
   */
  public record Measured(
      StepTime predicted, Estimate interval, double measuredSeconds, double measuredError) {
    /** {@code predicted / measured - 1}. */
    public double error() {
      return predicted.seconds() / measuredSeconds - 1;
    }
  }

  /**
   * One step.
   *
   * @param id the case
   * @param name what tells it apart for people
   * @param mode how it was launched
   * @param rounds one for each time that it was measured
   * @param limit what the error may be
   */
  public record Line(String id, String name, Mode mode, List<Measured> rounds, double limit) {
    /** The median error of the rounds. */
    public double error() {
      return median(Measured::error);
    }

    /** The median prediction. */
    public double predictedSeconds() {
      return median(m -> m.predicted().seconds());
    }

    /** The median measurement. */
    public double measuredSeconds() {
      return median(Measured::measuredSeconds);
    }

    /** Interval of the prediction: the medians of the rounds' ends. */
    public Estimate predicted() {
      return new Estimate(
          predictedSeconds(),
          median(m -> m.interval().low()),
          median(m -> m.interval().high()),
          rounds.stream()
              .map(m -> m.interval().provenance())
              .reduce(Provenance::worse)
              .orElseThrow());
    }

    /** Half the width of the measurement's 95 % interval: the median of the rounds'. */
    public double measuredError() {
      return median(Measured::measuredError);
    }

    /** Whether the error is within the limit. */
    public boolean within() {
      return Math.abs(error()) <= limit;
    }

    private double median(ToDoubleFunction<Measured> of) {
      return Stats.median(rounds.stream().mapToDouble(of).toArray());
    }
  }

  /**
   * Predicts all measured steps.
   *
   * @param rounds at least one
   * @param limits what errors may be
   * @throws IllegalArgumentException if there is no step
   */
  public StepCheck(List<Round> rounds, Limits limits) {
    Map<String, Line> found = new LinkedHashMap<>();
    Set<String> names = new LinkedHashSet<>();
    Set<String> notes = new LinkedHashSet<>();
    for (Round round : rounds) {
      Map<Mode, KernelSource> sources = new EnumMap<>(Mode.class);
      for (Path run : round.steps()) {
        RunData steps = RunDirectory.open(run).read();
        if (!steps.partial().isEmpty()) {
          notes.add("run " + steps.name() + " is " + steps.partial());
        }
        RunSteps times = new RunSteps(run);
        for (CaseResult c : steps.measured(CaseResult.STEP)) {
          Mode mode = c.param(Params.MODE).equals(Params.GRAPH) ? Mode.GRAPH : Mode.EAGER;
          KernelSource source =
              sources.computeIfAbsent(mode, m -> KernelSources.open(round.kernels(), m));
          names.add(source.name());
          notes.addAll(source.remarks());
          double limit = mode == Mode.GRAPH ? limits.graph() : limits.eager();
          found
              .computeIfAbsent(
                  c.id(), id -> new Line(id, name(c, mode), mode, new ArrayList<>(), limit))
              .rounds()
              .add(measured(c, mode, source, times));
        }
      }
    }
    if (found.isEmpty()) {
      throw new IllegalArgumentException(
          "There is no measured step in "
              + rounds.stream()
                  .flatMap(r -> r.steps().stream())
                  .map(Path::toString)
                  .collect(Collectors.joining(", ")));
    }
    this.lines = List.copyOf(found.values());
    this.kernels = String.join("; ", names);
    this.remarks = List.copyOf(notes);
  }

  private static String name(CaseResult c, Mode mode) {
    return String.join(
        " ", c.shortName(), c.param(Params.MODEL), c.param(Params.BATCH), mode.text());
  }

  private static Measured measured(CaseResult c, Mode mode, KernelSource source, RunSteps times) {
    Setup.Request asked = new Setup.Request();
    asked.model = c.param(Params.MODEL);
    asked.tp = c.param(Params.TP).isEmpty() ? 1 : Integer.parseInt(c.param(Params.TP));
    asked.mode = mode;
    if (!c.param("page").isEmpty()) {
      asked.pageSize = Integer.parseInt(c.param("page"));
    }
    if (!c.param("dtype").isEmpty()) {
      asked.precision = c.param("dtype");
    }
    StepModel model = Setup.of(asked, source).model().alone();
    StepTime step = model.step(BatchSpec.parse(c.param(Params.BATCH)));
    return new Measured(
        step,
        Intervals.step(model, step).seconds(),
        c.deviceTimeMedianUs() * 1e-6,
        Attribution.DEVIATIONS * times.step(c).latency().error());
  }

  /** In the order of the run. */
  public List<Line> lines() {
    return List.copyOf(lines);
  }

  /** Whether every step is within its limit. */
  public boolean within() {
    return lines.stream().allMatch(Line::within);
  }

  /** Tables. */
  public String text() {
    TextTable table =
        new TextTable(
                "step",
                ">kernels",
                ">predicted",
                ">90 %",
                ">measured",
                ">error",
                ">limit",
                "",
                ">assumed",
                "rounds")
            .uncut();
    for (Line l : lines) {
      table.row(
          l.name(),
          Units.time(l.median(m -> m.predicted().kernelSeconds()) * 1e6),
          Units.time(l.predictedSeconds() * 1e6),
          PredictionReport.range(l.predicted()),
          Units.time(l.measuredSeconds() * 1e6) + " +- " + Units.time(l.measuredError() * 1e6),
          Units.change(100 * l.error()),
          Units.percent(100 * l.limit()),
          l.within() ? "within" : "NOT within",
          Units.percent(100 * assumed(l)),
          l.rounds().stream()
              .map(m -> Units.change(100 * m.error()))
              .collect(Collectors.joining(", ")));
    }
    return "Steps predicted from kernels measured one by one, beside the measured steps\n"
        + "  kernels: "
        + Printable.line(kernels)
        + "\n"
        + remarks.stream()
            .map(r -> "  note: " + Printable.line(r) + "\n")
            .collect(Collectors.joining())
        + table
        + "  error: predicted / measured - 1, the median of the rounds; assumed: share of the"
        + " kernels' time that nobody measured\n"
        + "  90 %: interval, "
        + Estimates.COVERED
        + "; +-: 95 % from the medians of the forks, or 2 % where there is one fork\n";
  }

  private static double assumed(Line line) {
    return line.median(m -> m.predicted().share(Provenance.ASSUMED));
  }

  /** The same as one JSON document. */
  public String json() {
    ObjectNode root = JsonText.root(SCHEMA_VERSION);
    root.put("kernels", kernels);
    JsonText.texts(root, "remarks", remarks);
    root.put("within", within());
    ArrayNode steps = root.putArray("steps");
    for (Line l : lines) {
      ObjectNode n = steps.addObject();
      n.put("case", l.id());
      n.put("mode", l.mode().text());
      Estimate predicted = l.predicted();
      Estimates.json(n, "predicted", "_ms", 1e3, predicted);
      n.put("provenance", predicted.provenance().text());
      Attribution.number(n, "measured", true, l.measuredSeconds(), l.measuredError());
      JsonText.number(n, "kernels_ms", l.median(m -> m.predicted().kernelSeconds()) * 1e3);
      JsonText.number(n, "host_ms", l.median(m -> m.predicted().hostSeconds()) * 1e3);
      JsonText.number(n, "error_pct", 100 * l.error());
      JsonText.number(n, "limit_pct", 100 * l.limit());
      n.put("within", l.within());
      JsonText.number(n, "assumed_share", assumed(l));
      ArrayNode rounds = n.putArray("rounds");
      for (Measured m : l.rounds()) {
        ObjectNode round = rounds.addObject();
        JsonText.number(round, "predicted_ms", m.predicted().seconds() * 1e3);
        JsonText.number(round, "measured_ms", m.measuredSeconds() * 1e3);
        JsonText.number(round, "error_pct", 100 * m.error());
      }
    }
    return JsonText.print(root);
  }
}
