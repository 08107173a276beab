package io.musabench.results.tpot.answers;

import io.musabench.results.devices.DataSheet;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.ElementType;
import io.musabench.results.model.KernelCall.AllReduce;
import io.musabench.results.model.Layout;
import io.musabench.results.model.ModelConfig;
import io.musabench.results.model.ModelOperations;
import io.musabench.results.model.Models;
import io.musabench.results.model.Precision;
import io.musabench.results.model.Quantization;
import io.musabench.results.report.Units;
import io.musabench.results.tpot.Disaggregation;
import io.musabench.results.tpot.Engine;
import io.musabench.results.tpot.Mode;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.ServingRow;
import io.musabench.results.tpot.Speculation;
import io.musabench.results.tpot.StepModel;
import io.musabench.results.tpot.Validation;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.kernels.DeviceRoofs;
import io.musabench.results.tpot.kernels.KernelSource;
import io.musabench.results.tpot.kernels.KernelSources;
import io.musabench.results.tpot.kernels.KernelTimes;
import io.musabench.results.tpot.kernels.LaunchCosts;
import io.musabench.results.tpot.kernels.Link;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * A model on an engine with kernel times, as a question asks for it, and what had to be assumed.
 *
 * @param model the steps
 * @param assumptions in words, for every report
 */
public record Setup(StepModel model, List<String> assumptions) {
  /** A launch, a node or a replay of a minute is a slip of the keys. */
  private static final double LONGEST_US = 60e6;

  /** Copies the list. */
  public Setup {
    assumptions = List.copyOf(assumptions);
  }

  /** What data sheets call the arithmetic rates. */
  static final Map<ElementType, String> RATES =
      Map.of(
          ElementType.BF16, DataSheet.BF16_TFLOPS,
          ElementType.FP16, DataSheet.FP16_TFLOPS,
          ElementType.FP8, DataSheet.FP8_TFLOPS,
          ElementType.FP32, DataSheet.FP32_TFLOPS);

  /** Devices of the usual node of a server; more ranks may be on several. */
  private static final int NODE = 8;

  private static final String NO_KERNELS =
      "no kernel times: give --kernels with a run directory, a folder of aiconfigurator's tables or"
          + " a CSV file";

  /** What can be asked for; public fields, because each is set on its own by an option. */
  public static final class Request {
    /** Name or path of a model. */
    public String model;

    /** Tensor-parallel ranks. */
    public int tp = 1;

    /**
     * As {@link Precision#ofServer} reads it; null: what {@link ModelConfig#precision()} says,
     * unless measured rows cannot be that.
     */
    public String precision;

    /** Kernel times. */
    public List<Path> kernels = List.of();

    /** How kernels are launched. */
    public Mode mode = Mode.GRAPH;

    /** {@code exact}, {@code vllm} or a list of numbers. */
    public String captureSizes = "exact";

    /** Host time to launch one kernel in microseconds; null: from the kernel times. */
    public Double launchUs;

    /** Device time that a node of a graph adds, in microseconds; null: from the kernel times. */
    public Double nodeUs;

    /** Host time to replay a graph in microseconds; null: from the kernel times. */
    public Double replayUs;

    /** Kernels or nodes of a layer; null: as many as the operations that are predicted. */
    public Integer launchesPerLayer;

    /** Bandwidth between the ranks in GB/s; null: communication from the kernel times. */
    public Double linkGbPerS;

    /** With it: microseconds of each all-reduce or gather however little it sends. */
    public Double linkUs;

    /** Host gap a step in milliseconds. */
    public double gapMs;

    /** Host time a request and step in microseconds. */
    public double perRequestUs;

    /** Most tokens in a step; 0: prompts run whole. */
    public int tokenBudget = Engine.VLLM_TOKEN_BUDGET;

    /** Most running requests. */
    public Integer maxRunning;

    /** Tokens that the KV cache holds; 0: from the memory. */
    public long kvTokens;

    /** Share of the memory that the server fills. */
    public Double memoryShare;

    /** Tokens of a page. */
    public int pageSize = 16;
  }

  /**
   * Opens the kernel times and builds the model.
   *
   * @throws IllegalArgumentException if something asked for does not exist or does not fit
   * @throws io.musabench.results.tpot.kernels.KernelSourceException if the kernel times cannot be
   *     read
   */
  public static Setup open(Request asked) {
    return of(asked, kernels(asked));
  }

  /**
   * Opens the kernel times alone, which several models may share.
   *
   * @throws IllegalArgumentException if none are asked for
   * @throws io.musabench.results.tpot.kernels.KernelSourceException if they cannot be read
   */
  public static KernelSource kernels(Request asked) {
    if (asked.kernels.isEmpty()) {
      throw new IllegalArgumentException(NO_KERNELS);
    }
    return KernelSources.open(asked.kernels, asked.mode);
  }

  /** The same with kernel times that are open already. */
  public static Setup of(Request asked, KernelSource source) {
    if (asked.model == null) {
      throw new IllegalArgumentException("no model: give --model");
    }
    List<String> assumptions = new ArrayList<>(source.remarks());
    Layout layout = Models.find(asked.model).layout(asked.tp);
    LaunchCosts launch = launch(asked, source, assumptions);
    Engine.Builder builder = settings(asked, launch, Engine.of(layout).toBuilder());
    launches(asked, layout, launch, assumptions);
    Link link = link(asked);
    StepModel model = new StepModel(builder.build(), new KernelTimes(source, link));
    if (layout.tp() > 1) {
      ranks(layout, source, link, model.engine().precision(), assumptions);
    }
    quantised(layout.model(), asked, model.engine().precision(), assumptions);
    if (model.engine().kvTokens() == 0 && model.kvTokens() != Long.MAX_VALUE) {
      assumptions.add(
          String.format(
              Locale.ROOT,
              "the server fills %.0f %% of the memory, of which %.1f GB hold neither weights nor KV"
                  + " cache; --memory-share and --kv-tokens set others",
              100 * model.engine().memoryShare(),
              model.engine().reservedBytes() / 1e9));
    }
    if (model.kvTokens() == 0) {
      // Single steps are predicted all the same.
      assumptions.add(model.engine().doesNotFit(source.roofs()));
    }
    if (model.kvTokens() == Long.MAX_VALUE) {
      assumptions.add("the memory of the device is not known: the KV cache is taken to fit");
    }
    return new Setup(model, assumptions);
  }

  private static Engine.Builder settings(
      Request asked, LaunchCosts launch, Engine.Builder builder) {
    builder
        .precision(precision(asked, builder.layout().model()))
        .pageSize(asked.pageSize)
        .mode(asked.mode)
        .captureSizes(captureSizes(asked.captureSizes))
        .launch(launch)
        .launchesPerLayer(launchesPerLayer(asked))
        .gapSeconds(asked.gapMs / 1e3)
        .perRequestSeconds(asked.perRequestUs / 1e6)
        .tokenBudget(asked.tokenBudget)
        .kvTokens(asked.kvTokens);
    if (asked.maxRunning != null) {
      builder.maxRunning(asked.maxRunning);
    }
    return asked.memoryShare == null ? builder : builder.memoryShare(asked.memoryShare);
  }

  /**
   * A model by its name, or, where nobody knows that, the one that was asked for.
   *
   * @param taken collects what is said of such names, and of quantised weights
   */
  private static ModelConfig model(String name, Request asked, Set<String> taken) {
    ModelConfig model;
    try {
      model = Models.find(name);
    } catch (IllegalArgumentException e) {
      if (asked.model == null) {
        throw e;
      }
      taken.add("the model " + name + " is not known: its rows are taken as " + asked.model);
      model = Models.find(asked.model);
    }
    quantised(model, asked, precision(asked, model), taken);
    return model;
  }

  /**
   * Predictions for every row of a table of measurements.
   *
   * @param asked its model is that of rows without one and of names that nobody knows; its ranks
   *     are not used
   * @param measured CSV file
   * @throws IllegalArgumentException if the table or something asked for cannot be used
   */
  public static ValidationReport validate(Request asked, Path measured) {
    if (asked.kernels.isEmpty()) {
      throw new IllegalArgumentException(NO_KERNELS);
    }
    return validate(asked, measured, null);
  }

  /** The same with kernel times that are open already; null: those asked for. */
  static ValidationReport validate(Request asked, Path measured, KernelSource open) {
    List<ServingRow> rows;
    try {
      if (Files.isDirectory(measured)) {
        throw new IllegalArgumentException(measured + " is a folder, not a CSV file");
      }
      if (!Files.isRegularFile(measured)) {
        throw new IllegalArgumentException("There is no file " + measured);
      }
      rows = ServingRow.read(measured, asked.model);
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException(measured + " is not text in UTF-8", e);
    } catch (IOException e) {
      throw new IllegalArgumentException("Cannot read " + measured + ": " + e, e);
    }
    KernelSource source = open == null ? KernelSources.open(asked.kernels, asked.mode) : open;
    List<String> assumptions = new ArrayList<>(source.remarks());
    LaunchCosts launch = launch(asked, source, assumptions);
    KernelTimes times = new KernelTimes(source, link(asked));
    Set<String> taken = new TreeSet<>();
    Validation validation =
        new Validation(
            times,
            b -> settings(asked, launch, b),
            name -> model(name, asked, taken),
            asked.precision == null ? Validation.NARROWER : List.of());
    Validation.Report report;
    try {
      report = validation.report(rows);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(measured + ", " + e.getMessage(), e);
    }
    assumptions.addAll(taken);
    assumptions.addAll(unmeasured(times));
    String engine =
        String.format(
            Locale.ROOT,
            "%s, %s, graphs for %s sizes, %s, gap %s ms a step and %s us a request",
            asked.mode.name().toLowerCase(Locale.ROOT),
            precisions(asked, report),
            asked.captureSizes,
            asked.tokenBudget == 0
                ? "whole prompts"
                : "chunked prefill with " + asked.tokenBudget + " tokens a step",
            Units.number(asked.gapMs),
            Units.number(asked.perRequestUs));
    return new ValidationReport(
        measured.toString(), times, engine, validation, report, assumptions);
  }

  /** What the rows were predicted in that could be what they say. */
  private static String precisions(Request asked, Validation.Report report) {
    if (asked.precision != null) {
      return Precision.ofServer(asked.precision).toString();
    }
    String all =
        report.lines().stream()
            .filter(l -> l.narrowed().isEmpty())
            .map(l -> l.precision().toString())
            .distinct()
            .sorted()
            .collect(Collectors.joining(", "));
    return all.isEmpty() ? "types as each row says" : all;
  }

  /** What was assumed, including the kernels that the predictions made so far had to assume. */
  public List<String> assumptionsAfter() {
    List<String> all = new ArrayList<>(assumptions);
    all.addAll(unmeasured(model.times()));
    return all;
  }

  /** The kernels that were assumed, by what their time was assumed from. */
  private static List<String> unmeasured(KernelTimes times) {
    Map<String, List<String>> byReason = new LinkedHashMap<>();
    for (String kernel : times.assumed()) {
      // As KernelTimes prints them: "kernel (reason)".
      int open = kernel.indexOf(" (");
      String reason = open < 0 ? "" : kernel.substring(open + 2, kernel.length() - 1);
      byReason
          .computeIfAbsent(reason, r -> new ArrayList<>())
          .add(open < 0 ? kernel : kernel.substring(0, open));
    }
    List<String> all = new ArrayList<>(times.inOtherTypes());
    byReason.forEach(
        (reason, kernels) ->
            all.add("nobody measured " + String.join(", ", kernels) + ": " + reason));
    return all;
  }

  private static Precision precision(Request asked, ModelConfig model) {
    if (asked.precision == null) {
      return model.precision();
    }
    Precision precision = Precision.ofServer(asked.precision);
    if (precision.weights() == ElementType.FP32 || precision.activations() == ElementType.FP32) {
      // Neither kernel times nor data sheets have an arithmetic rate of it that a time of another
      // type could be carried over by.
      throw new IllegalArgumentException(
          "Steps are predicted in bf16, fp16 and fp8, not in " + precision);
    }
    return precision;
  }

  /** What a file's quantised weights are predicted as. */
  private static void quantised(
      ModelConfig model, Request asked, Precision precision, Collection<String> assumptions) {
    Quantization q = model.quantization();
    if (q == null) {
      return;
    }
    if (!q.fp8() || precision.weights() != ElementType.FP8) {
      assumptions.add(
          "the model's weights are quantised ("
              + q.method()
              + "), but the prediction is for "
              + precision
              + ", as if they were that");
      return;
    }
    if (asked.precision == null) {
      Set<String> left = new TreeSet<>(q.left());
      left.add("lm_head");
      assumptions.add(
          "the model's config says fp8 weights ("
              + q.method()
              + "): products but "
              + String.join(", ", left)
              + " run in fp8, all else and the KV cache in bf16; --precision sets another");
    }
    if (!q.mixed().isEmpty()) {
      assumptions.add(
          "unquantised in the model's config, but predicted in fp8 as in the other layers: "
              + String.join("; ", q.mixed()));
    }
    if (q.fp8KvCache() && precision.kvCache() != ElementType.FP8) {
      assumptions.add(
          "the model's config has scales for an fp8 KV cache, which is taken as "
              + precision.kvCache().text()
              + "; --precision fp8/bf16/fp8 predicts it in fp8");
    }
  }

  private static List<Integer> captureSizes(String text) {
    if (text.equals("exact")) {
      return List.of();
    }
    if (text.equals("vllm")) {
      return Engine.VLLM_CAPTURE_SIZES;
    }
    try {
      List<Integer> sizes = new ArrayList<>();
      for (String size : text.split(",")) {
        sizes.add(Integer.parseInt(size.strip()));
      }
      return sizes;
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "Captured sizes are exact, vllm or a list such as 1,2,4,8, not \"" + text + "\"", e);
    }
  }

  private static LaunchCosts launch(Request asked, KernelSource source, List<String> assumptions) {
    Optional<LaunchCosts> known = source.launch();
    double kernel = known.map(LaunchCosts::perKernelSeconds).orElse(Double.NaN);
    double node = known.map(LaunchCosts::perNodeSeconds).orElse(Double.NaN);
    double replay = known.map(LaunchCosts::replaySeconds).orElse(Double.NaN);
    Provenance provenance = known.map(LaunchCosts::provenance).orElse(Provenance.ASSUMED);
    kernel = given("launch cost", asked.launchUs, kernel);
    node = given("time a node", asked.nodeUs, node);
    replay = given("time to replay", asked.replayUs, replay);
    boolean assumed = provenance == Provenance.ASSUMED && asked.launchUs == null;
    if (assumed && !Double.isNaN(kernel)) {
      assumptions.add(
          String.format(
              Locale.ROOT,
              "launch cost a kernel: %.1f us, what the shortest eager kernel of the table takes;"
                  + " --launch-us sets another",
              1e6 * kernel));
    }
    if (Double.isNaN(kernel) && asked.mode == Mode.EAGER) {
      assumptions.add(
          "launch cost a kernel: not in the kernel times, counted as nothing; give --launch-us");
    }
    if (Double.isNaN(replay) && asked.mode == Mode.GRAPH) {
      assumptions.add("host time to replay a graph: not in the kernel times, counted as nothing");
    }
    boolean nothing = Double.isNaN(kernel) && Double.isNaN(node) && Double.isNaN(replay);
    double setUp = known.map(LaunchCosts::setUpPerNodeSeconds).orElse(Double.NaN);
    boolean given = asked.launchUs != null || asked.nodeUs != null || asked.replayUs != null;
    return nothing
        ? null
        : new LaunchCosts(kernel, node, replay, setUp, given ? Provenance.ASSUMED : provenance);
  }

  private static int launchesPerLayer(Request asked) {
    if (asked.launchesPerLayer == null) {
      return 0;
    }
    if (asked.launchesPerLayer < 1) {
      throw new IllegalArgumentException(
          "A layer makes at least 1 launch, not " + asked.launchesPerLayer);
    }
    return asked.launchesPerLayer;
  }

  /** How many launches a step is taken to make, where they cost something. */
  private static void launches(
      Request asked, Layout layout, LaunchCosts launch, List<String> assumptions) {
    int own = ModelOperations.inLayer(layout);
    Integer given = asked.launchesPerLayer;
    if (given != null) {
      assumptions.add("launches a layer: " + given + ", as given; the operations here are " + own);
      return;
    }
    double cost =
        launch == null
            ? 0
            : asked.mode == Mode.EAGER ? launch.perKernelSeconds() : launch.perNodeSeconds();
    if (cost > 0) {
      assumptions.add(
          "launches a layer: "
              + own
              + ", one for each operation here; --launches-per-layer sets the number of an engine"
              + " that fuses less"
              // vllm/model_executor/models/qwen3.py: q_norm, k_norm and rotary_emb.
              + (layout.model().qkNorm() ? " (vLLM: 2 more for the norms of q and k)" : ""));
    }
  }

  private static Link link(Request asked) {
    if (asked.linkGbPerS == null && asked.linkUs == null) {
      return null;
    }
    if (asked.linkGbPerS == null || asked.linkUs == null) {
      throw new IllegalArgumentException("--link and --link-us are given together, or neither");
    }
    return new Link(asked.linkGbPerS, asked.linkUs / 1e6);
  }

  /** Where the time of communication comes from, if not from measurements of as many ranks. */
  private static void ranks(
      Layout layout,
      KernelSource source,
      Link link,
      Precision precision,
      List<String> assumptions) {
    if (link != null) {
      assumptions.add(
          String.format(
              Locale.ROOT,
              "all-reduces and gathers between the ranks take %s us and their bytes at %s GB/s, as"
                  + " given",
              Units.number(1e6 * link.seconds()),
              Units.number(link.gbPerS())));
    } else if (layout.tp() > NODE) {
      AllReduce one = new AllReduce(layout.model().hiddenSize(), layout.tp());
      boolean measured =
          source
              .time(one, precision)
              .filter(t -> Provenance.INTERPOLATED.compareTo(t.provenance()) >= 0)
              .isPresent();
      if (!measured) {
        assumptions.add(
            "no all-reduce over "
                + layout.tp()
                + " ranks was measured: it is taken to be as fast as within a node; if the ranks"
                + " are on several nodes, give --link and --link-us of the network");
      }
    }
  }

  private static double given(String what, Double us, double known) {
    if (us == null) {
      return known;
    }
    if (!(us >= 0 && us < LONGEST_US)) {
      throw new IllegalArgumentException("The " + what + " cannot be " + us + " us");
    }
    return us / 1e6;
  }

  /**
   * Roofs of a data sheet.
   *
   * @throws IllegalArgumentException if it does not know the memory's bandwidth
   */
  public static DeviceRoofs roofs(DataSheet sheet) {
    double bandwidth = sheet.value(DataSheet.MEMORY_GB_PER_S);
    if (Double.isNaN(bandwidth)) {
      throw new IllegalArgumentException(
          "The data sheet of " + sheet.name() + " has no memory bandwidth");
    }
    Map<ElementType, Double> flops = new EnumMap<>(ElementType.class);
    RATES.forEach((type, figure) -> put(flops, type, sheet.value(figure)));
    return new DeviceRoofs(
        bandwidth,
        flops,
        sheet.value(DataSheet.LINK_GB_PER_S),
        sheet.value(DataSheet.MEMORY_BYTES),
        Provenance.DATA_SHEET);
  }

  private static void put(Map<ElementType, Double> flops, ElementType type, double value) {
    if (!Double.isNaN(value)) {
      flops.put(type, value);
    }
  }

  /**
   * A step as people write it: a batch spec, or a number of decodes over {@code context} tokens.
   *
   * @throws IllegalArgumentException that shows right forms
   */
  public static BatchSpec batch(String text, int context) {
    if (text.matches("\\d{1,6}")) {
      int n = Integer.parseInt(text);
      if (n < 1) {
        throw new IllegalArgumentException("A batch has at least 1 request, not " + n);
      }
      return BatchSpec.decode(n, Math.max(2, context));
    }
    return BatchSpec.parse(text);
  }

  /**
   * Separate prefill as {@code 1:2}, prefillers to decoders.
   *
   * @param linkGbPerS bandwidth of one rank to the other side
   * @param linkUs time before the first bytes arrive
   */
  public static Disaggregation separate(String text, double linkGbPerS, double linkUs) {
    String[] parts = text.split(":");
    try {
      if (parts.length == 2) {
        return new Disaggregation(
            Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), linkGbPerS, linkUs / 1e6);
      }
    } catch (NumberFormatException e) {
      // The message below says what is wanted.
    }
    throw new IllegalArgumentException(
        "Separate prefill is prefillers:decoders, such as 1:1, not \"" + text + "\"");
  }

  /** Speculation as {@code acceptance:guesses[:draft microseconds]}, such as {@code 0.7:3}. */
  public static Speculation speculation(String text) {
    String[] parts = text.split(":");
    try {
      if (parts.length == 2 || parts.length == 3) {
        return new Speculation(
            Double.parseDouble(parts[0]),
            Integer.parseInt(parts[1]),
            parts.length == 3 ? Double.parseDouble(parts[2]) / 1e6 : 0);
      }
    } catch (NumberFormatException e) {
      // The message below says what is wanted.
    }
    throw new IllegalArgumentException(
        "Speculation is acceptance:guesses[:draft us], such as 0.7:3:200, not \"" + text + "\"");
  }

  /** One workload for each concurrency. */
  public static List<Workload> workloads(
      List<Integer> concurrencies,
      int input,
      int output,
      double prefixHits,
      Disaggregation separate,
      Speculation speculation) {
    return concurrencies.stream()
        .map(c -> new Workload(c, input, output, prefixHits, separate, speculation))
        .toList();
  }
}
