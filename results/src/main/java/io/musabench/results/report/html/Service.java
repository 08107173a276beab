package io.musabench.results.report.html;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.CommandLine;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.report.RunReport;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Params;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.answers.GraphGain;
import io.musabench.results.tpot.answers.PredictionReport;
import io.musabench.results.tpot.answers.Sensitivity;
import io.musabench.results.tpot.answers.Setup;
import io.musabench.results.tpot.kernels.KernelSource;
import io.musabench.results.tpot.kernels.KernelSourceException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Predicts a service, a model in a mode on kernel times, and answers what the page shows of it. */
final class Service {
  /** Change of a kernel's time that sensitivities are of. */
  private static final double CHANGE = 0.1;

  private Service() {}

  /** Options of a load that a step without prefills does not have. */
  private static final Set<String> OF_LOAD =
      Set.of("--prefix-hits", "--separate-prefill", "--kv-link", "--kv-link-us", "--speculate");

  /** Batches at which eager and graph are held against each other. */
  private static final List<Integer> BATCHES = List.of(1, 2, 4, 8, 16, 32, 64, 128, 256);

  /** What cannot be predicted, and why. */
  record Refusal(String name, String reason) {}

  /**
   * Predictions, sensitivity and, of graphs, their gain.
   *
   * @param engine further options of engine and load, names and values by turns
   * @throws IllegalArgumentException if something asked for does not exist or does not fit
   * @throws KernelSourceException if the kernel times cannot be read
   */
  static List<Answer> of(Setup.Request request, List<Workload> loads, List<String> engine) {
    return of(request, loads, "", null, engine, new EnumMap<>(Mode.class));
  }

  /**
   * @param prefix what tells the run from others
   * @param run its place in the report; null for kernel times that were named
   * @param open the request's kernel times by mode; takes those that it lacks, as reading a run's
   *     samples or a folder of tables is most of the work
   */
  private static List<Answer> of(
      Setup.Request request,
      List<Workload> loads,
      String prefix,
      Integer run,
      List<String> engine,
      Map<Mode, KernelSource> open) {
    Setup setup = setup(request, open);
    PredictionReport predictions = new PredictionReport(setup, loads, List.of());
    Sensitivity sensitivity = new Sensitivity(setup, loads, CHANGE);
    GraphGain gain = gain(request, loads, open);
    // After all of them are computed, so that each tells the same assumptions.
    ObjectNode root = predictions.tree(true);
    String name = prefix + Answer.model(root) + " " + request.mode.text();
    String options = options(request, loads, engine, false);
    List<Answer> all = new ArrayList<>();

    all.add(Answer.of(Answer.PREDICT, name, root, run, "musabench tpot " + options));
    all.add(
        Answer.of(
            Answer.SENSITIVITY,
            name,
            sensitivity.tree(),
            run,
            "musabench tpot sensitivity " + options));
    if (gain != null) {
      String command = "musabench tpot graph-gain " + options(request, loads, engine, true);
      all.add(Answer.of(Answer.GRAPH_GAIN, name, gain.tree(), run, command));
    }
    return all;
  }

  private static String options(
      Setup.Request request, List<Workload> loads, List<String> engine, boolean bothModes) {
    Workload first = loads.get(0);
    List<String> words = new ArrayList<>();
    words.add("--model " + CommandLine.quoted(request.model));
    words.add("--tp " + request.tp);
    request.kernels.forEach(k -> words.add("--kernels " + CommandLine.quoted(k.toString())));
    if (!bothModes) {
      words.add("--mode " + request.mode.text());
    }
    if (request.precision != null) {
      words.add("--precision " + CommandLine.quoted(request.precision));
    }
    for (int i = 0; i < engine.size(); i += 2) {
      if (!bothModes || !OF_LOAD.contains(engine.get(i))) {
        words.add(engine.get(i) + " " + CommandLine.quoted(engine.get(i + 1)));
      }
    }
    words.add("--isl " + first.inputTokens() + " --osl " + first.outputTokens());
    List<Integer> requests =
        bothModes ? BATCHES : loads.stream().map(Workload::concurrency).toList();
    words.add(
        (bothModes ? "--batch " : "--concurrency ")
            + String.join(",", requests.stream().map(n -> Integer.toString(n)).toList()));
    return String.join(" ", words);
  }

  private static Setup setup(Setup.Request request, Map<Mode, KernelSource> open) {
    return Setup.of(request, open.computeIfAbsent(request.mode, m -> Setup.kernels(request)));
  }

  /** Eager and graph of the same kernels, at the context that the loads have on average. */
  private static GraphGain gain(
      Setup.Request request, List<Workload> loads, Map<Mode, KernelSource> open) {
    if (request.mode != Mode.GRAPH) {
      return null;
    }
    Workload first = loads.get(0);
    // Not the setup of the predictions: it tells what those had to assume, and nothing else.
    Setup graph = setup(request, open);
    request.mode = Mode.EAGER;
    try {
      Setup eager = setup(request, open);
      return new GraphGain(
          eager, graph, BATCHES, first.inputTokens() + first.outputTokens() / 2, Double.NaN);
    } catch (IllegalArgumentException | KernelSourceException e) {
      return null;
    } finally {
      request.mode = Mode.GRAPH;
    }
  }

  /**
   * One for each model that the steps of the runs are of, on the kernel times of that run.
   *
   * @param loads what is asked of each
   * @param refused takes what cannot be predicted
   */
  static List<Answer> ofRuns(List<ReportedRun> runs, List<Workload> loads, List<Refusal> refused) {
    List<Answer> all = new ArrayList<>();
    for (int i = 0; i < runs.size(); i++) {
      Map<String, Setup.Request> asked = new LinkedHashMap<>();
      for (CaseResult c : runs.get(i).data().measured(CaseResult.STEP)) {
        if (!c.parts().isEmpty() && c.batch().filter(BatchSpec::isDecode).isPresent()) {
          try {
            asked.computeIfAbsent(RunReport.model(c), m -> request(c));
          } catch (NumberFormatException x) {
            refused.add(new Refusal(RunReport.model(c), "tp=" + c.param(Params.TP)));
          }
        }
      }
      String prefix = runs.size() > 1 ? ReportModel.letter(i) + " " : "";
      Map<Mode, KernelSource> open = new EnumMap<>(Mode.class);
      for (Map.Entry<String, Setup.Request> e : asked.entrySet()) {
        e.getValue().kernels = List.of(runs.get(i).path());
        try {
          all.addAll(of(e.getValue(), loads, prefix, i, List.of(), open));
        } catch (IllegalArgumentException | KernelSourceException x) {
          refused.add(new Refusal(prefix + e.getKey(), String.valueOf(x.getMessage())));
        }
      }
    }
    return all;
  }

  private static Setup.Request request(CaseResult c) {
    Setup.Request request = new Setup.Request();
    request.model = c.param(Params.MODEL);
    if (!c.param(Params.TP).isEmpty()) {
      request.tp = Integer.parseInt(c.param(Params.TP));
    }
    return request;
  }
}
