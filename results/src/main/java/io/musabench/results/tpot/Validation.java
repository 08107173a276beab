package io.musabench.results.tpot;

import io.musabench.results.model.ElementType;
import io.musabench.results.model.ModelConfig;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.kernels.KernelTimes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * Predictions beside what a service was measured to do, and beside two simpler predictions: the sum
 * of the kernels of a decode step, and what the roofs allow it at best. Neither knows of prefills.
 */
public final class Validation {
  /** From this share of rows below the roof on, a series is set aside as a whole. */
  private static final double IMPOSSIBLE_SHARE = 0.5;

  private final KernelTimes times;
  private final UnaryOperator<Engine.Builder> settings;
  private final Function<String, ModelConfig> models;
  private final List<Precision> narrower;
  private final Map<String, StepModel> known = new HashMap<>();

  /** Types to take for a series that is too fast for 16 bits: the weights', then the KV cache's. */
  public static final List<Precision> NARROWER =
      List.of(Precision.FP8, new Precision(ElementType.FP8, ElementType.BF16, ElementType.FP8));

  /** Which rows are taken in another type or set aside, in one line. */
  public static final String SET_ASIDE_RULE =
      "a row cannot be what it says if not one request fits into the memory, or its TPOT is below"
          + " what reading weights and KV cache takes at the roofs; a series (model, input, output)"
          + " of which half or more is so fast and that names no precision is taken in fp8, or"
          + " fp8/bf16/fp8, if all of it is possible in that (--precision: never); else the row, or"
          + " with half or more the series, is set aside";

  /**
   * One row and what is predicted for it.
   *
   * @param row what was measured
   * @param prediction with intervals
   * @param kernelSum seconds: the kernels of the decode step
   * @param roofline seconds: the least that these kernels can take
   * @param error of TPOT: predicted / measured - 1
   * @param precision types of the prediction
   * @param narrowed why these are not those that were asked for; empty if they are
   * @param setAside why its measurement cannot be what it says; empty if it can
   */
  public record Line(
      ServingRow row,
      Prediction prediction,
      double kernelSum,
      double roofline,
      double error,
      Precision precision,
      String narrowed,
      String setAside) {
    /** Whether requests are predicted to wait to be let in. */
    public boolean saturated() {
      return prediction.state() == Prediction.State.SATURATED;
    }

    /** Whether most of the time of a decoding request goes to decode steps, as predicted. */
    public boolean decodeDominates() {
      return prediction.state() == Prediction.State.OK;
    }

    /**
     * Whether the measured TPOT lies in the interval of the prediction, which only knows how far
     * off kernel times are.
     */
    public boolean tpotInside() {
      return row.tpotSeconds() >= prediction.tpot().low()
          && row.tpotSeconds() <= prediction.tpot().high();
    }

    /** Whether there is a measured TTFT to compare. */
    public boolean hasTtft() {
      return !Double.isNaN(row.ttftSeconds());
    }

    /** Whether the measured TTFT lies between staggered and burst arrivals. */
    public boolean ttftInside() {
      return row.ttftSeconds() >= prediction.ttftStaggered().value()
          && row.ttftSeconds() <= prediction.ttftBurst().value();
    }
  }

  /**
   * Measured TTFT against the interval and what is expected in it, over the rows that are neither
   * saturated nor set aside.
   *
   * @param inside share of them inside the interval; NaN if there are none
   * @param errors of the expected TTFT
   */
  public record Ttft(double inside, Errors errors) {}

  /**
   * Rows of one number of ranks and one length of prompts.
   *
   * @param tp ranks
   * @param inputTokens length of prompts
   * @param errors of their TPOT, without the rows that are set aside
   */
  public record Cell(int tp, int inputTokens, Errors errors) {}

  /**
   * Host costs estimated on the rows of one number of ranks and tried on the others. Rows that are
   * saturated, set aside or taken in another type do not take part in the estimate; those set aside
   * are not tried.
   *
   * @param tp ranks of the rows that the estimate is from
   * @param terms the estimate
   * @param estimated errors of the rows that it is from
   * @param tried errors of the rows of all other numbers of ranks
   */
  public record Split(int tp, HostTerms terms, Errors estimated, Errors tried) {}

  /**
   * The outcome.
   *
   * @param lines in the order of the file
   * @param tpot errors over all rows
   * @param possible errors over the rows that are not set aside
   * @param asGiven errors over those of them that are in the types that were asked for
   * @param kernelSum errors of the sum of kernels, over all rows
   * @param roofline errors of the roofline, over all rows; NaN where roofs are not known
   * @param ttft share of measured TTFT inside the interval
   * @param cells by ranks and length of prompts
   */
  public record Report(
      List<Line> lines,
      Errors tpot,
      Errors possible,
      Errors asGiven,
      Errors kernelSum,
      Errors roofline,
      Ttft ttft,
      List<Cell> cells) {
    /** The rows with the largest errors, largest first. */
    public List<Line> worst(int count) {
      return lines.stream()
          .sorted(Comparator.comparingDouble((Line l) -> -Math.abs(l.error())))
          .limit(count)
          .toList();
    }
  }

  /**
   * Prepares.
   *
   * @param times kernel times of the device that served
   * @param settings of the engine, of which the layout is that of each row
   * @param models finds a model by its name
   * @param narrower types that a series may have been served in that cannot have been served in
   *     those of the settings, the most likely first; empty: such a series is set aside
   */
  public Validation(
      KernelTimes times,
      UnaryOperator<Engine.Builder> settings,
      Function<String, ModelConfig> models,
      List<Precision> narrower) {
    this.times = times;
    this.settings = settings;
    this.models = models;
    this.narrower = List.copyOf(narrower);
  }

  /**
   * Predicts every row.
   *
   * @throws IllegalArgumentException if the model of a row is unknown or its ranks or lengths do
   *     not fit it; the message begins with its line
   */
  public Report report(List<ServingRow> rows) {
    Map<String, List<ServingRow>> series =
        rows.stream()
            .collect(
                Collectors.groupingBy(Validation::series, LinkedHashMap::new, Collectors.toList()));
    // One row of many may be a slip of the pen, which says nothing of the others.
    Set<String> impossible =
        series.entrySet().stream()
            .filter(e -> below(e.getValue(), null) >= IMPOSSIBLE_SHARE)
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet());
    Map<String, Precision> taken = new HashMap<>();
    for (String s : impossible) {
      narrower.stream()
          .filter(p -> below(series.get(s), p) == 0)
          .findFirst()
          .ifPresent(p -> taken.put(s, p));
    }
    List<Line> lines = new ArrayList<>();
    for (ServingRow row : rows) {
      String s = series(row);
      lines.add(atLine(row, r -> line(r, taken.get(s), impossible.contains(s))));
    }
    List<Line> possible = lines.stream().filter(l -> l.setAside().isEmpty()).toList();
    List<Line> ttft = possible.stream().filter(l -> l.hasTtft() && !l.saturated()).toList();
    Map<List<Integer>, List<Line>> cells =
        possible.stream()
            .collect(
                Collectors.groupingBy(
                    l -> List.of(l.row().tp(), l.row().workload().inputTokens()),
                    LinkedHashMap::new,
                    Collectors.toList()));
    return new Report(
        List.copyOf(lines),
        errors(lines, Line::error),
        errors(possible, Line::error),
        errors(possible.stream().filter(l -> l.narrowed().isEmpty()).toList(), Line::error),
        errors(lines, l -> l.kernelSum() / l.row().tpotSeconds() - 1),
        errors(lines, l -> l.roofline() / l.row().tpotSeconds() - 1),
        new Ttft(
            ttft.isEmpty()
                ? Double.NaN
                : (double) ttft.stream().filter(Line::ttftInside).count() / ttft.size(),
            errors(ttft, l -> l.prediction().ttft().value() / l.row().ttftSeconds() - 1)),
        cells.entrySet().stream()
            .map(
                e ->
                    new Cell(
                        e.getKey().get(0), e.getKey().get(1), errors(e.getValue(), Line::error)))
            .sorted(Comparator.comparingInt(Cell::tp).thenComparingInt(Cell::inputTokens))
            .toList());
  }

  private static <T> T atLine(ServingRow row, Function<ServingRow, T> answer) {
    try {
      return answer.apply(row);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("line " + row.line() + ": " + e.getMessage(), e);
    }
  }

  private static Errors errors(List<Line> lines, Function<Line, Double> error) {
    return Errors.of(lines.stream().map(error).toList());
  }

  /**
   * Share of rows whose TPOT is below the roof.
   *
   * @param precision in place of the settings' for rows that name none; null: that of the settings
   */
  private double below(List<ServingRow> rows, Precision precision) {
    return rows.stream()
        .mapToDouble(
            row -> atLine(row, r -> r.tpotSeconds() < floor(model(r, precision), r)) ? 1 : 0)
        .average()
        .orElse(0);
  }

  /**
   * @param taken what is taken for a series that cannot be in the settings' types; null for none
   */
  private Line line(ServingRow row, Precision taken, boolean impossibleSeries) {
    StepModel model = model(row, taken);
    String misfit = ClosedLoop.misfit(model, row.workload());
    Prediction p =
        ClosedLoop.predictWithInterval(misfit == null ? model : roomy(model), row.workload());
    Precision precision = model.engine().precision();
    double floor = floor(model, row);
    String setAside = "";
    String narrowed = "";
    if (misfit != null) {
      setAside = misfit;
    } else if (row.tpotSeconds() < floor) {
      setAside =
          "TPOT is below the %.1f ms that reading weights and KV cache takes at the roof"
              .formatted(floor * 1e3);
    } else if (taken != null && row.precision() == null) {
      StepModel asked = model(row, null);
      narrowed =
          "taken as %s, because at least half of its series is too fast for %s"
              .formatted(precision, asked.engine().precision());
    } else if (impossibleSeries && taken == null) {
      setAside = "of a series of which at least half has a TPOT below the roof";
    }
    return new Line(
        row,
        p,
        p.decodeStep().kernelSeconds(),
        roofline(model, p.decodeStep()),
        p.tpot().value() / row.tpotSeconds() - 1,
        precision,
        narrowed,
        setAside);
  }

  /** The same with memory for everything. */
  private static StepModel roomy(StepModel model) {
    return model.with(model.engine().toBuilder().kvTokens(Long.MAX_VALUE).build());
  }

  /**
   * Rows of one kind, from one run of a benchmark: if many cannot be what they say, in another type
   * for example, the others are not either.
   */
  private static String series(ServingRow row) {
    Workload w = row.workload();
    String named = row.precision() == null ? "" : " " + row.precision();
    return row.model() + " " + w.inputTokens() + " " + w.outputTokens() + named;
  }

  private static double roofline(StepModel model, StepTime step) {
    if (model.times().source().roofs().provenance() == Provenance.ASSUMED) {
      // Roofs that are only the best rate of these very kernels forbid nothing.
      return Double.NaN;
    }
    double sum = 0;
    for (Term t : step.terms()) {
      sum += t.count() * model.roof(t);
    }
    return sum;
  }

  /**
   * The least that a token can take, whatever the kernels: at least one decode step, with the
   * requests that Little's law says were decoding. 0 where the roofs are not known.
   */
  private static double floor(StepModel model, ServingRow row) {
    Workload w = row.workload();
    double decoding = (w.outputTokens() - 1) * row.tpotSeconds();
    double all = decoding + (Double.isNaN(row.ttftSeconds()) ? 0 : row.ttftSeconds());
    int batch = Math.max(1, (int) (w.concurrency() * decoding / all));
    double least = roofline(model, model.decode(batch, w.meanContext()));
    return Double.isNaN(least) ? 0 : least;
  }

  /**
   * The engine of a row.
   *
   * @param precision for a row that names none; null: that of the settings
   */
  private StepModel model(ServingRow row, Precision precision) {
    Precision types = row.precision() == null ? precision : row.precision();
    return known.computeIfAbsent(
        row.model() + " " + row.tp() + " " + types,
        key -> {
          Engine engine = Engine.of(models.apply(row.model()).layout(row.tp()));
          Engine.Builder builder = settings.apply(engine.toBuilder());
          return new StepModel((types == null ? builder : builder.precision(types)).build(), times);
        });
  }

  /**
   * Estimates the host's costs on the rows of each number of ranks and tries them on all others.
   * Empty if there is only one number of ranks.
   */
  public List<Split> splits(Report report) {
    Map<Integer, List<Line>> byTp =
        report.lines().stream()
            .filter(l -> l.setAside().isEmpty())
            .collect(Collectors.groupingBy(l -> l.row().tp(), TreeMap::new, Collectors.toList()));
    List<Split> found = new ArrayList<>();
    if (byTp.size() > 1) {
      byTp.forEach(
          (tp, lines) -> {
            List<Line> from =
                lines.stream().filter(l -> l.decodeDominates() && l.narrowed().isEmpty()).toList();
            Map<String, List<Line>> groups =
                from.stream()
                    .collect(
                        Collectors.groupingBy(
                            l -> series(l.row()), LinkedHashMap::new, Collectors.toList()));
            if (groups.size() > 1) {
              HostTerms terms = HostTerms.estimate(List.copyOf(groups.values()), this::error);
              List<Line> others =
                  report.lines().stream()
                      .filter(l -> l.setAside().isEmpty() && l.row().tp() != tp)
                      .toList();
              found.add(
                  new Split(
                      tp,
                      terms,
                      errors(from, l -> error(l, terms)),
                      errors(others, l -> error(l, terms))));
            }
          });
    }
    return found;
  }

  private double error(Line line, HostTerms terms) {
    StepModel plain = model(line.row(), line.narrowed().isEmpty() ? null : line.precision());
    StepModel model =
        plain.with(
            plain.engine().toBuilder()
                .gapSeconds(terms.gapSeconds())
                .perRequestSeconds(terms.perRequestSeconds())
                .build());
    Prediction p = ClosedLoop.predict(model, line.row().workload());
    return p.tpot().value() / line.row().tpotSeconds() - 1;
  }
}
