package io.musabench.results.report.html;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.report.RunReport;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Params;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Prediction;
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

/**
 * A service whose TPOT is predicted: a model in a mode, on kernel times.
 *
 * @param name what tells it from the others of the report
 * @param model as the report names it
 * @param setup the model with its kernel times
 * @param predictions one a load
 * @param sensitivity of the same loads
 * @param gain of graphs over eager launches; null if it cannot be said
 * @param options of the commands that answer the same
 * @param gainOptions of the command that answers the same of graphs
 */
record Service(
    String name,
    String model,
    Setup setup,
    List<Prediction> predictions,
    Sensitivity sensitivity,
    GraphGain gain,
    String options,
    String gainOptions) {
  /** Change of a kernel's time that sensitivities are of. */
  static final double CHANGE = 0.1;

  /** Options of a load that a step without prefills does not have. */
  private static final Set<String> OF_LOAD =
      Set.of("--prefix-hits", "--separate-prefill", "--kv-link", "--kv-link-us", "--speculate");

  /** Batches at which eager and graph are held against each other. */
  private static final List<Integer> BATCHES = List.of(1, 2, 4, 8, 16, 32, 64, 128, 256);

  /** What cannot be predicted, and why. */
  record Refusal(String name, String reason) {}

  /**
   * Predicts one service.
   *
   * @param engine further options of engine and load, names and values by turns
   * @throws IllegalArgumentException if something asked for does not exist or does not fit
   * @throws KernelSourceException if the kernel times cannot be read
   */
  static Service of(Setup.Request request, List<Workload> loads, String run, List<String> engine) {
    return of(request, loads, run, engine, new EnumMap<>(Mode.class));
  }

  /**
   * @param open the request's kernel times by mode; takes those that it lacks, as reading a run's
   *     samples or a folder of tables is most of the work
   */
  private static Service of(
      Setup.Request request,
      List<Workload> loads,
      String run,
      List<String> engine,
      Map<Mode, KernelSource> open) {
    Setup setup = setup(request, open);
    List<Prediction> predictions = new PredictionReport(setup, loads, List.of()).predictions();
    String model =
        setup.model().engine().layout().model().name()
            + (request.tp == 1 ? "" : " TP" + request.tp);
    return new Service(
        run + model + " " + request.mode.text(),
        model,
        setup,
        predictions,
        new Sensitivity(setup, loads, CHANGE),
        gain(request, loads, open),
        options(request, loads, engine, false),
        options(request, loads, engine, true));
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

  /** The command line that predicts the same. */
  String command() {
    return "musabench tpot " + options;
  }

  String sensitivityCommand() {
    return "musabench tpot sensitivity " + options;
  }

  String gainCommand() {
    return "musabench tpot graph-gain " + gainOptions;
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
  static List<Service> ofRuns(List<ReportedRun> runs, List<Workload> loads, List<Refusal> refused) {
    List<Service> all = new ArrayList<>();
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
          all.add(of(e.getValue(), loads, prefix, List.of(), open));
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
