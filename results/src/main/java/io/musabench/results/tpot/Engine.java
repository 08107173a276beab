package io.musabench.results.tpot;

import io.musabench.results.model.Layout;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.kernels.DeviceRoofs;
import io.musabench.results.tpot.kernels.LaunchCosts;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * How a server runs a model. Start from {@link #of} and change what is different.
 *
 * @param layout model and rank
 * @param precision types of weights, activations and KV cache
 * @param pageSize tokens of a page of the KV cache
 * @param mode how kernels are launched
 * @param captureSizes with {@link Mode#GRAPH}: numbers of tokens for which there is a graph, in
 *     ascending order. A step runs in the smallest that holds it, and, beyond the largest, eagerly.
 *     Empty: a graph for exactly the tokens of every step
 * @param launch what launching costs; null if not known, which counts as nothing
 * @param launchesPerLayer kernels or nodes of a layer, communication among them; 0: as many as the
 *     operations that are predicted
 * @param gapSeconds time between two steps in which the device waits for the host: scheduler,
 *     inputs, sampled tokens on their way
 * @param perRequestSeconds part of that time that grows with the requests of the step
 * @param tokenBudget most tokens in a step: prompts are cut into chunks that share steps with the
 *     decodes. 0: a prompt runs whole, in a step of its own, while the decodes wait
 * @param maxRunning most requests that run at the same time
 * @param kvTokens tokens that the KV cache holds; 0: from the memory of the device, if known
 * @param memoryShare share of the memory that the server may fill
 * @param reservedBytes of that, what neither weights nor KV cache can have: activations, graphs,
 *     communication buffers
 * @param clockError standard deviation of the device's speed as a whole from what the kernel times
 *     say, as a share: other clocks, another card
 */
public record Engine(
    Layout layout,
    Precision precision,
    int pageSize,
    Mode mode,
    List<Integer> captureSizes,
    LaunchCosts launch,
    int launchesPerLayer,
    double gapSeconds,
    double perRequestSeconds,
    int tokenBudget,
    int maxRunning,
    long kvTokens,
    double memoryShare,
    double reservedBytes,
    double clockError) {
  /**
   * Sizes that vLLM captures by default up to 512: 1, 2, 4, then in steps of 8 to 256, of 16 from
   * there (vllm/config, {@code cudagraph_capture_sizes}).
   */
  public static final List<Integer> VLLM_CAPTURE_SIZES =
      Stream.of(
              IntStream.of(1, 2, 4),
              IntStream.iterate(8, n -> n <= 256, n -> n + 8),
              IntStream.iterate(272, n -> n <= 512, n -> n + 16))
          .flatMap(IntStream::boxed)
          .toList();

  /**
   * Token budget of vLLM's server on a card of 70 GiB or more (vllm/engine/arg_utils.py, {@code
   * default_max_num_batched_tokens} of an API server). Other engines and smaller cards have less.
   */
  public static final int VLLM_TOKEN_BUDGET = 8192;

  /** What the system file of aiconfigurator reserves on a card of 80 GB: 3.5 GiB. */
  private static final double RESERVED = 3.5 * (1 << 30);

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException that names the wrong one
   */
  public Engine {
    captureSizes = List.copyOf(captureSizes);
    require(pageSize >= 1, "page size", pageSize);
    require(launchesPerLayer >= 0, "number of launches a layer", launchesPerLayer);
    require(gapSeconds >= 0 && gapSeconds < 60, "gap in seconds", gapSeconds);
    require(
        perRequestSeconds >= 0 && perRequestSeconds < 60,
        "time per request in seconds",
        perRequestSeconds);
    require(tokenBudget >= 0, "token budget", tokenBudget);
    require(maxRunning >= 1, "number of running requests", maxRunning);
    require(kvTokens >= 0, "size of the KV cache in tokens", kvTokens);
    require(memoryShare > 0 && memoryShare <= 1, "share of the memory", memoryShare);
    require(reservedBytes >= 0, "reserved memory", reservedBytes);
    require(clockError >= 0 && clockError < 1, "clock error", clockError);
    int last = 0;
    for (int size : captureSizes) {
      require(size > last, "list of captured sizes, ascending from 1,", captureSizes);
      last = size;
    }
  }

  private static void require(boolean right, String what, Object given) {
    if (!right) {
      throw new IllegalArgumentException("The " + what + " cannot be " + given);
    }
  }

  /**
   * Graphs for every size, pages of 16 tokens, bf16, nothing known about the host; token budget,
   * 1024 requests and 90 % of the memory as vLLM's server has on a large card; a clock error of 2
   * %.
   */
  public static Engine of(Layout layout) {
    return new Builder(layout).build();
  }

  /** To change some of it. */
  public Builder toBuilder() {
    Builder b = new Builder(layout);
    b.precision = precision;
    b.pageSize = pageSize;
    b.mode = mode;
    b.captureSizes = captureSizes;
    b.launch = launch;
    b.launchesPerLayer = launchesPerLayer;
    b.gapSeconds = gapSeconds;
    b.perRequestSeconds = perRequestSeconds;
    b.tokenBudget = tokenBudget;
    b.maxRunning = maxRunning;
    b.kvTokens = kvTokens;
    b.memoryShare = memoryShare;
    b.reservedBytes = reservedBytes;
    b.clockError = clockError;
    return b;
  }

  /** Whether a step of so many tokens runs as a graph. */
  public boolean captured(int tokens) {
    return mode == Mode.GRAPH
        && (captureSizes.isEmpty() || tokens <= captureSizes.get(captureSizes.size() - 1));
  }

  /** Tokens that a step of so many tokens computes, those that fill up its graph included. */
  public int padded(int tokens) {
    if (mode == Mode.EAGER) {
      return tokens;
    }
    for (int size : captureSizes) {
      if (size >= tokens) {
        return size;
      }
    }
    return tokens;
  }

  /**
   * Tokens that the KV cache holds: {@code (memory * share - reserved - weights) / bytes a token}.
   *
   * @return {@link Long#MAX_VALUE} if the memory is not known; 0 if the weights leave nothing
   */
  public long kvTokens(DeviceRoofs roofs) {
    if (kvTokens > 0) {
      return kvTokens;
    }
    if (Double.isNaN(roofs.memoryBytes())) {
      return Long.MAX_VALUE;
    }
    double room = roofs.memoryBytes() * memoryShare - reservedBytes - layout.weightBytes(precision);
    return (long) Math.max(0, room / layout.kvBytesPerToken(precision.kvCache().bytes()));
  }

  /** Says why nothing is left for the KV cache, where {@link #kvTokens(DeviceRoofs)} is 0. */
  public String doesNotFit(DeviceRoofs roofs) {
    return String.format(
        Locale.ROOT,
        "The weights of %s, %.1f GB a rank in %s, do not fit in %.1f GB of memory, of which %.0f %%"
            + " less %.1f GB can be used",
        layout,
        layout.weightBytes(precision) / 1e9,
        precision,
        roofs.memoryBytes() / 1e9,
        100 * memoryShare,
        reservedBytes / 1e9);
  }

  /**
   * Checks that the longest context of the model holds a request with its whole answer, as servers
   * do when the request comes.
   *
   * @throws IllegalArgumentException if it does not
   */
  void requireContext(Workload workload) {
    long whole = (long) workload.inputTokens() + workload.outputTokens();
    if (whole > layout.model().maxPositions()) {
      throw new IllegalArgumentException(
          "A request of "
              + workload.inputTokens()
              + " tokens in and "
              + workload.outputTokens()
              + " out is longer than the context of "
              + layout.model().name()
              + ", "
              + layout.model().maxPositions()
              + " tokens; a config.json with rope_scaling can hold more");
    }
  }

  /** Collects the parts of an {@link Engine}; each method is named after the part that it sets. */
  public static final class Builder {
    private final Layout layout;
    private Precision precision = Precision.BF16;
    private int pageSize = 16;
    private Mode mode = Mode.GRAPH;
    private List<Integer> captureSizes = List.of();
    private LaunchCosts launch;
    private int launchesPerLayer;
    private double gapSeconds;
    private double perRequestSeconds;
    private int tokenBudget = VLLM_TOKEN_BUDGET;
    private int maxRunning = 1024;
    private long kvTokens;
    private double memoryShare = 0.9;
    private double reservedBytes = RESERVED;
    private double clockError = 0.02;

    private Builder(Layout layout) {
      this.layout = layout;
    }

    /** Model and rank. */
    public Layout layout() {
      return layout;
    }

    /** Types. */
    public Builder precision(Precision value) {
      precision = value;
      return this;
    }

    /** Tokens of a page. */
    public Builder pageSize(int value) {
      pageSize = value;
      return this;
    }

    /** How kernels are launched. */
    public Builder mode(Mode value) {
      mode = value;
      return this;
    }

    /** Sizes of the graphs. */
    public Builder captureSizes(List<Integer> value) {
      captureSizes = value;
      return this;
    }

    /** Costs of launching; null if not known. */
    public Builder launch(LaunchCosts value) {
      launch = value;
      return this;
    }

    /** Launches of a layer, or 0. */
    public Builder launchesPerLayer(int value) {
      launchesPerLayer = value;
      return this;
    }

    /** Host time a step. */
    public Builder gapSeconds(double value) {
      gapSeconds = value;
      return this;
    }

    /** Host time a request and step. */
    public Builder perRequestSeconds(double value) {
      perRequestSeconds = value;
      return this;
    }

    /** Most tokens in a step, or 0. */
    public Builder tokenBudget(int value) {
      tokenBudget = value;
      return this;
    }

    /** Most running requests. */
    public Builder maxRunning(int value) {
      maxRunning = value;
      return this;
    }

    /** Size of the KV cache, or 0. */
    public Builder kvTokens(long value) {
      kvTokens = value;
      return this;
    }

    /** Share of the memory in use. */
    public Builder memoryShare(double value) {
      memoryShare = value;
      return this;
    }

    /** Memory for other things. */
    public Builder reservedBytes(double value) {
      reservedBytes = value;
      return this;
    }

    /** Common error of all times. */
    public Builder clockError(double value) {
      clockError = value;
      return this;
    }

    /**
     * The engine.
     *
     * @throws IllegalArgumentException that names a wrong part
     */
    public Engine build() {
      return new Engine(
          layout,
          precision,
          pageSize,
          mode,
          captureSizes,
          launch,
          launchesPerLayer,
          gapSeconds,
          perRequestSeconds,
          tokenBudget,
          maxRunning,
          kvTokens,
          memoryShare,
          reservedBytes,
          clockError);
    }
  }
}
