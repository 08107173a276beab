package io.musabench.jmh.cli;

import io.musabench.results.tpot.Disaggregation;
import io.musabench.results.tpot.Engine;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.answers.Setup;
import io.musabench.results.tpot.kernels.KernelSource;
import io.musabench.results.tpot.kernels.KernelSources;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Option;

/** Options that the questions of {@code musabench tpot} share: model, engine and kernel times. */
final class TpotOptions {
  /** What a precision is called, in every command's help. */
  static final String PRECISIONS =
      "bf16, fp16, fp8 (products of fp8 weights and activations), or weights/activations/KV as in"
          + " fp8/bf16/fp8; by default bf16, or fp8 where the model's config says so";

  @Option(names = "--model", paramLabel = "NAME|PATH", description = "model, or its config.json")
  String model;

  @Option(
      names = "--tp",
      paramLabel = "N",
      defaultValue = "1",
      description = "tensor-parallel ranks; 1 by default")
  int tp;

  @Option(
      names = "--kernels",
      paramLabel = "SRC",
      description =
          "kernel times: run directories of this suite, folders of aiconfigurator's tables, or CSV"
              + " files kernel,shape,precision,seconds_us,relative_error,source; several times or"
              + " with commas",
      split = ",")
  List<Path> kernels = List.of();

  @Option(
      names = "--mode",
      paramLabel = "eager|graph",
      defaultValue = "graph",
      description = "how kernels are launched; graph by default")
  String mode;

  @Option(names = "--precision", paramLabel = "TYPE", description = PRECISIONS)
  String precision;

  @Option(
      names = "--capture-sizes",
      paramLabel = "exact|vllm|LIST",
      defaultValue = "exact",
      description = "sizes that have a graph; a step runs in the next larger one")
  String captureSizes;

  @Option(
      names = "--launch-us",
      paramLabel = "US",
      description = "host time to launch one kernel; from the kernel times by default")
  Double launchUs;

  @Option(
      names = "--node-us",
      paramLabel = "US",
      description = "device time that a node of a graph adds; from the kernel times by default")
  Double nodeUs;

  @Option(
      names = "--replay-us",
      paramLabel = "US",
      description = "host time to replay a graph; from the kernel times by default")
  Double replayUs;

  @Option(
      names = "--launches-per-layer",
      paramLabel = "N",
      description =
          "kernels, or nodes, that the engine launches in a layer, all-reduces among them; by default"
              + " one for each operation that is predicted")
  Integer launchesPerLayer;

  @Option(
      names = "--link",
      paramLabel = "GB/S",
      description =
          "bandwidth of a rank to the others in one direction, for all-reduces and gathers; from the"
              + " kernel times by default")
  Double link;

  @Option(
      names = "--link-us",
      paramLabel = "US",
      description = "with --link: time of each of them however little it sends")
  Double linkUs;

  @Option(
      names = "--gap-ms",
      paramLabel = "MS",
      defaultValue = "0",
      description = "host gap between two steps; 0 by default")
  double gapMs;

  @Option(
      names = "--per-request-us",
      paramLabel = "US",
      defaultValue = "0",
      description = "host time a request and step; 0 by default")
  double perRequestUs;

  @Option(
      names = "--token-budget",
      paramLabel = "TOKENS",
      defaultValue = "" + Engine.VLLM_TOKEN_BUDGET,
      description =
          "chunked prefill: most tokens in a step, ${DEFAULT-VALUE} by default as vLLM's server on a"
              + " large card; 0: prompts run whole, in steps of their own")
  int tokenBudget;

  @Option(names = "--max-running", paramLabel = "N", description = "most requests that run at once")
  Integer maxRunning;

  @Option(
      names = "--kv-tokens",
      paramLabel = "TOKENS",
      defaultValue = "0",
      description = "tokens that the KV cache holds; from the device's memory by default")
  long kvTokens;

  @Option(
      names = "--memory-share",
      paramLabel = "SHARE",
      description = "share of the memory that the server fills; 0.9 by default")
  Double memoryShare;

  @Option(
      names = "--page-size",
      paramLabel = "TOKENS",
      defaultValue = "16",
      description = "tokens of a page of the KV cache; 16 by default")
  int pageSize;

  /** Options of the load. */
  static final class Loads {
    @Option(
        names = "--isl",
        paramLabel = "TOKENS",
        defaultValue = "1024",
        description = "tokens of a prompt; 1024 by default")
    int isl;

    @Option(
        names = "--osl",
        paramLabel = "TOKENS",
        defaultValue = "256",
        description = "tokens of an answer; 256 by default")
    int osl;

    @Option(
        names = "--prefix-hits",
        paramLabel = "SHARE",
        defaultValue = "0",
        description = "share of each prompt that is in the prefix cache; 0 by default")
    double prefixHits;

    @Option(
        names = "--separate-prefill",
        paramLabel = "P:D",
        description = "P/D separation: groups of devices that prefill, and that decode")
    String separate;

    @Option(
        names = "--kv-link",
        paramLabel = "GB/S",
        description =
            "with --separate-prefill: bandwidth of a rank's link for keys and values; 50 by default")
    Double kvLink;

    @Option(
        names = "--kv-link-us",
        paramLabel = "US",
        description = "with --separate-prefill: time before the first of them arrive; 0 by default")
    Double kvLinkUs;

    @Option(
        names = "--speculate",
        paramLabel = "A:K[:US]",
        description =
            "speculative decoding: acceptance rate, tokens guessed a step, us to draft a token")
    String speculate;

    /**
     * What the options ask for, at each number of requests in flight.
     *
     * @throws IllegalArgumentException if a value cannot be, or would have no effect
     */
    List<Workload> of(List<Integer> concurrencies) {
      if (separate == null && (kvLink != null || kvLinkUs != null)) {
        throw new IllegalArgumentException(
            (kvLink != null ? "--kv-link" : "--kv-link-us")
                + " has no effect without --separate-prefill");
      }
      Disaggregation pd =
          separate == null
              ? null
              : Setup.separate(
                  separate, kvLink == null ? 50 : kvLink, kvLinkUs == null ? 0 : kvLinkUs);
      return Setup.workloads(
          concurrencies,
          isl,
          osl,
          prefixHits,
          pd,
          speculate == null ? null : Setup.speculation(speculate));
    }
  }

  /**
   * What the options ask for.
   *
   * @throws IllegalArgumentException if the mode does not exist
   */
  Setup.Request request() {
    Setup.Request r = new Setup.Request();
    r.model = model;
    r.tp = tp;
    r.precision = precision;
    r.kernels = kernels;
    r.mode = mode(mode);
    r.captureSizes = captureSizes;
    r.launchUs = launchUs;
    r.nodeUs = nodeUs;
    r.replayUs = replayUs;
    r.launchesPerLayer = launchesPerLayer;
    r.linkGbPerS = link;
    r.linkUs = linkUs;
    r.gapMs = gapMs;
    r.perRequestUs = perRequestUs;
    r.tokenBudget = tokenBudget;
    r.maxRunning = maxRunning;
    r.kvTokens = kvTokens;
    r.memoryShare = memoryShare;
    r.pageSize = pageSize;
    return r;
  }

  /**
   * The kernel times; null if none are given.
   *
   * @throws IllegalArgumentException if the mode does not exist
   * @throws io.musabench.results.tpot.kernels.KernelSourceException if they cannot be read
   */
  KernelSource source() {
    return kernels.isEmpty() ? null : KernelSources.open(kernels, mode(mode));
  }

  private static Mode mode(String text) {
    return Arrays.stream(Mode.values())
        .filter(m -> m.name().equals(text.toUpperCase(Locale.ROOT)))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException("--mode takes eager or graph, not \"" + text + "\""));
  }
}
