package io.musabench.jmh.cli;

import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.answers.GraphGain;
import io.musabench.results.tpot.answers.Setup;
import io.musabench.results.tpot.answers.Sweep;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code musabench tpot graph-gain}. */
@Command(
    name = "graph-gain",
    mixinStandardHelpOptions = true,
    description =
        "Eager decode steps against replayed graphs, by batch: what is saved, where that ends, and"
            + " the batch at which an eager step stops being host-bound, each with its interval.")
final class TpotGraphGainCommand extends Answer {
  @Mixin private TpotOptions options;

  @Option(
      names = {"--batch", "--concurrency"},
      paramLabel = "N|SWEEP",
      split = ",",
      defaultValue = "1,2,4,8,16,32,64,128,256",
      description = "requests of a decode step; powers of 2 up to 256 by default")
  private List<String> batches;

  @Option(
      names = "--isl",
      paramLabel = "TOKENS",
      defaultValue = "1024",
      description = "tokens of a prompt; 1024 by default")
  private int isl;

  @Option(
      names = "--osl",
      paramLabel = "TOKENS",
      defaultValue = "256",
      description = "tokens of an answer; 256 by default. The context is isl + osl / 2")
  private int osl;

  @Option(
      names = "--capture-ms",
      paramLabel = "MS",
      description =
          "time to capture, instantiate and upload one graph, for the break-even of replays; by"
              + " default as measured in the run directory of --kernels, if it was")
  private Double captureMs;

  @Override
  String answer(boolean json) {
    if (isl < 1 || osl < 1) {
      throw new IllegalArgumentException("--isl and --osl are at least 1");
    }
    if (captureMs != null && !(captureMs >= 0)) {
      throw new IllegalArgumentException("--capture-ms is at least 0, not " + captureMs);
    }
    Setup.Request request = options.request();
    request.mode = Mode.EAGER;
    Setup eager = Setup.open(request);
    request.mode = Mode.GRAPH;
    GraphGain gain =
        new GraphGain(
            eager,
            Setup.open(request),
            Sweep.of(batches),
            isl + osl / 2,
            captureMs == null ? Double.NaN : captureMs / 1e3);
    return json ? gain.json() : gain.text();
  }
}
