package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.report.JsonText;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Params;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.StepTime;
import io.musabench.results.tpot.kernels.KernelSource;
import io.musabench.results.tpot.kernels.KernelSources;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Steps predicted from kernels that were measured one by one, in runs of their own, beside the same
 * steps measured as a whole.
 */
public final class StepCheck {
  /** Raised when a field changes its meaning or goes away; new fields do not raise it. */
  public static final int SCHEMA_VERSION = 1;

  /** How far a graph may be off: its device time is its kernels and a known cost a node. */
  static final double GRAPH_LIMIT = 0.05;

  /** How far an eager step may be off: the host's work beside it adds noise. */
  static final double EAGER_LIMIT = 0.10;

  private static final String STEP = "step";

  private final String kernels;
  private final List<Line> lines;

  /**
   * One step.
   *
   * @param id the case
   * @param mode how it was launched
   * @param predicted from kernels
   * @param measuredSeconds median of the whole step
   * @param assumed part of the kernels' time that nobody measured
   */
  public record Line(
      String id, Mode mode, StepTime predicted, double measuredSeconds, double assumed) {
    /** {@code predicted / measured - 1}. */
    public double error() {
      return predicted.seconds() / measuredSeconds - 1;
    }

    /** What the error may be. */
    public double limit() {
      return mode == Mode.GRAPH ? GRAPH_LIMIT : EAGER_LIMIT;
    }

    /** Whether it is. */
    public boolean within() {
      return Math.abs(error()) <= limit();
    }
  }

  /**
   * Predicts all measured steps.
   *
   * @param kernels run directories with the kernels
   * @param steps run directories with the steps
   * @throws IllegalArgumentException if there is no step
   */
  public StepCheck(List<Path> kernels, List<Path> steps) {
    Map<Mode, KernelSource> sources = new EnumMap<>(Mode.class);
    lines = new ArrayList<>();
    for (Path run : steps) {
      for (CaseResult c : RunDirectory.open(run).read().cases()) {
        if (c.ok() && c.group().equals(STEP)) {
          Mode mode = c.param(Params.MODE).equals(Params.GRAPH) ? Mode.GRAPH : Mode.EAGER;
          KernelSource source = sources.computeIfAbsent(mode, m -> KernelSources.open(kernels, m));
          lines.add(line(c, mode, source));
        }
      }
    }
    if (lines.isEmpty()) {
      throw new IllegalArgumentException(
          "There is no measured step in "
              + steps.stream().map(Path::toString).collect(Collectors.joining(", ")));
    }
    this.kernels = sources.values().iterator().next().name();
  }

  private static Line line(CaseResult c, Mode mode, KernelSource source) {
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
    StepTime step = Setup.of(asked, source).model().step(BatchSpec.parse(c.param(Params.BATCH)));
    return new Line(
        c.id(), mode, step, c.deviceTimeMedianUs() * 1e-6, step.share(Provenance.ASSUMED));
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
            "step", ">kernels", ">predicted", ">measured", ">error", ">limit", "", ">assumed");
    for (Line l : lines) {
      table.row(
          l.id(),
          Units.time(l.predicted().kernelSeconds() * 1e6),
          Units.time(l.predicted().seconds() * 1e6),
          Units.time(l.measuredSeconds() * 1e6),
          Units.change(100 * l.error()),
          Units.percent(100 * l.limit()),
          l.within() ? "within" : "NOT within",
          Units.percent(100 * l.assumed()));
    }
    return "Steps predicted from kernels measured one by one, beside the measured steps\n"
        + "  kernels: "
        + kernels
        + "\n"
        + table
        + "  error: predicted / measured - 1; assumed: share of the kernels' time that nobody"
        + " measured\n";
  }

  /** The same as one JSON document. */
  public String json() {
    ObjectNode root = JsonText.root(SCHEMA_VERSION);
    root.put("kernels", kernels);
    root.put("within", within());
    ArrayNode steps = root.putArray("steps");
    for (Line l : lines) {
      ObjectNode n = steps.addObject();
      n.put("case", l.id());
      n.put("mode", l.mode().text());
      JsonText.number(n, "predicted_ms", l.predicted().seconds() * 1e3);
      JsonText.number(n, "measured_ms", l.measuredSeconds() * 1e3);
      JsonText.number(n, "kernels_ms", l.predicted().kernelSeconds() * 1e3);
      JsonText.number(n, "host_ms", l.predicted().hostSeconds() * 1e3);
      JsonText.number(n, "error_pct", 100 * l.error());
      JsonText.number(n, "limit_pct", 100 * l.limit());
      n.put("within", l.within());
      JsonText.number(n, "assumed_share", l.assumed());
    }
    return JsonText.print(root);
  }
}
