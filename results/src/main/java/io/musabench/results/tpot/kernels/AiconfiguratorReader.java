package io.musabench.results.tpot.kernels;

import io.musabench.results.model.ElementType;
import io.musabench.results.model.Precision;
import io.musabench.results.stats.Stats;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.kernels.Family.Kind;
import io.musabench.results.tpot.kernels.TableSource.MemoryRule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * aiconfigurator's tables of measured kernels, as CSV: {@code *_perf.txt} of its older versions, or
 * its parquet files converted. A table is known by its columns, so names and folders do not matter;
 * {@code <system>/<operation>/<backend>/<version>/} and a flat folder are both read. Its file about
 * the system is looked for beside the tables and in the folders above.
 *
 * <p>Latencies are milliseconds. The context of generation attention is {@code isl + step}; the
 * size of a message counts elements; attention of vLLM up to 0.14 was measured with the write to
 * the KV cache that its layer does first.
 */
final class AiconfiguratorReader {
  private static final String LATENCY = "latency";

  private static final double MILLIS = 1e3;

  /** Variant of the eager rows of an all-reduce; after "", so graph rows count for a graph. */
  private static final String EAGER = "eager";

  private static final Pattern VLLM = Pattern.compile("vllm 0\\.(\\d{1,4})\\b");
  private static final int LAST_MINOR_WITH_WRITE = 14;

  /** Tables under their own names: what stands there must be one. */
  private static final Pattern TABLE_NAME =
      Pattern.compile(
          "(gemm|(context|generation)_attention|(custom_)?allreduce|nccl|moe)(_perf)?\\.(csv|txt)");

  /** Depth of {@code systems/data/<system>/<operation>/<backend>/<version>/<table>}. */
  private static final int DEPTH = 8;

  /** Folders above a table in which its system's file may stand: from version up to systems. */
  private static final int FOLDERS_UP = 6;

  /** Tables that are read, by the columns that only they have. */
  private enum Table {
    GEMM("gemm_dtype", "m", "n", "k"),
    ATTENTION(
        "attn_dtype",
        "op_name",
        "kv_cache_dtype",
        "batch_size",
        "isl",
        "step",
        "num_heads",
        "num_key_value_heads",
        "head_dim"),
    CUSTOM_ALL_REDUCE("allreduce_dtype", "num_gpus", "message_size"),
    NCCL("nccl_dtype", "op_name", "num_gpus", "message_size"),
    MOE(
        "moe_dtype",
        "num_tokens",
        "hidden_size",
        "inter_size",
        "topk",
        "num_experts",
        "moe_tp_size",
        "moe_ep_size");

    private final List<String> columns;

    Table(String... columns) {
      this.columns =
          Stream.concat(Stream.of(columns), Stream.of("framework", "version", LATENCY)).toList();
    }
  }

  private final Map<Path, Table> files = new TreeMap<>();
  private final Set<Path> systems = new TreeSet<>();

  /** Framework and version of each table, to refuse a folder that mixes them. */
  private final Map<Table, Map<String, Path>> versions = new LinkedHashMap<>();

  private long rows;

  /** Of the first row; null if no table says. */
  private String device;

  /** By family and variant. */
  private final Map<Family, Map<String, List<Point>>> points = new LinkedHashMap<>();

  private AiconfiguratorReader() {}

  /** The source in these files and folders, or empty if there is no such table. */
  static Optional<KernelSource> open(Collection<Path> paths) {
    AiconfiguratorReader reader = new AiconfiguratorReader();
    paths.forEach(reader::find);
    return reader.files.isEmpty() ? Optional.empty() : Optional.of(reader.read());
  }

  private void find(Path path) {
    try (Stream<Path> walk = Files.walk(path, DEPTH)) {
      for (Path file :
          (Iterable<Path>) walk.filter(f -> !Files.isDirectory(f)).sorted()::iterator) {
        String name = file.getFileName().toString();
        if (!Files.isRegularFile(file)) {
          requireNoTable(file, name);
          continue;
        }
        Path converted = file.resolveSibling(name.replaceFirst("\\.parquet$", ".csv"));
        if (name.endsWith(".parquet") && Files.exists(converted)) {
          continue;
        }
        if (name.matches(".*\\.(csv|txt|parquet)")) {
          Optional<Table> table = kind(file);
          if (table.isEmpty() && TABLE_NAME.matcher(name).matches()) {
            throw new KernelSourceException(
                file
                    + " has the name of a table, but "
                    + (Files.size(file) == 0 ? "is empty" : "none of its columns")
                    + "; restore it, or remove it so that what it held is assumed");
          }
          table.ifPresent(t -> files.put(file, t));
        } else if (name.matches(".*\\.ya?ml") && SystemFile.is(file)) {
          systems.add(file);
        }
      }
    } catch (IOException | UncheckedIOException e) {
      throw CsvFile.cannotRead(path, e);
    }
    if (systems.isEmpty() && !files.isEmpty()) {
      findAbove(path);
    }
  }

  /** A link that leads nowhere would change a prediction as silently as an empty file. */
  private static void requireNoTable(Path file, String name) {
    if (TABLE_NAME.matcher(name).matches()) {
      throw new KernelSourceException(
          file
              + " has the name of a table, but is no file that can be read; restore it, or remove"
              + " it so that what it held is assumed");
    }
  }

  /** {@code systems/h100_sxm.yaml} is about {@code systems/data/h100_sxm/...}. */
  private void findAbove(Path path) {
    Path folder = path.toAbsolutePath().normalize();
    Set<String> names = new LinkedHashSet<>();
    for (int i = 0; i < FOLDERS_UP && folder != null; i++, folder = folder.getParent()) {
      if (folder.getFileName() != null) {
        names.add(folder.getFileName().toString());
      }
      for (String name : names) {
        Path file = folder.resolve(name + ".yaml");
        if (Files.isRegularFile(file) && SystemFile.is(file)) {
          systems.add(file);
          return;
        }
      }
    }
  }

  private static Optional<Table> kind(Path file) {
    Set<String> columns = CsvFile.columns(file);
    for (Table table : Table.values()) {
      if (columns.contains(table.columns.get(0))) {
        return Optional.of(table);
      }
    }
    return Optional.empty();
  }

  private KernelSource read() {
    if (systems.size() > 1) {
      throw new KernelSourceException(
          "These tables come with more than one system: "
              + systems.stream().map(Path::toString).collect(Collectors.joining(", "))
              + "; give the folder of one");
    }
    files.forEach(
        (file, table) -> {
          long before = rows;
          CsvFile.rows(file, table.columns, row -> row(table, row));
          if (rows == before) {
            throw new KernelSourceException(file + " has a header and no rows");
          }
        });
    if (systems.isEmpty()) {
      return finish("", DeviceRoofs.UNKNOWN, null);
    }
    SystemFile system = SystemFile.read(systems.iterator().next());
    String name = system.file().getFileName().toString().replaceFirst("\\.ya?ml$", "");
    return finish(" " + name, system.roofs(), system.memoryRule());
  }

  private KernelSource finish(String system, DeviceRoofs roofs, MemoryRule rule) {
    String measured =
        versions.entrySet().stream()
            .filter(e -> e.getKey() != Table.NCCL)
            .map(e -> e.getValue().keySet().iterator().next())
            .distinct()
            .collect(Collectors.joining(", "));
    TableSource.Builder builder =
        new TableSource.Builder(
            "aiconfigurator" + system + (measured.isEmpty() ? "" : " " + measured));
    points.forEach(
        (family, variants) -> {
          // The first in the order of preference.
          List<Point> best = new TreeMap<>(variants).values().iterator().next();
          best.forEach(p -> builder.add(family, p.a, p.b, p.y, p.x, p.seconds, p.from));
        });
    if (versions.getOrDefault(Table.ATTENTION, Map.of()).keySet().stream()
        .anyMatch(AiconfiguratorReader::writesInAttention)) {
      builder.contained(Kind.KV_CACHE_WRITE, "attention");
    }
    if (builder.isEmpty()) {
      throw new KernelSourceException(
          files.keySet().stream().map(Path::toString).collect(Collectors.joining(", "))
              + ": no row of a type that this program knows (bfloat16, float16, half, fp8)");
    }
    builder.device(device);
    builder.memoryRule(rule);
    builder.launch(launchCosts());
    return builder.build(roofs);
  }

  /**
   * Whether {@code forward} of vLLM's attention, which was measured, also writes the new keys and
   * values to the cache. It did until both were split (vLLM pull request 25954, after 0.14).
   */
  private static boolean writesInAttention(String version) {
    Matcher m = VLLM.matcher(version);
    return m.lookingAt() && Integer.parseInt(m.group(1)) <= LAST_MINOR_WITH_WRITE;
  }

  private record Point(double a, double b, double y, double x, double seconds, String from) {}

  /**
   * @param variant of several ways in which a family was measured the first in the alphabet counts
   */
  private void point(
      Family family, String variant, double a, double b, double y, double x, CsvFile.Row row) {
    points
        .computeIfAbsent(family, f -> new HashMap<>())
        .computeIfAbsent(variant, v -> new ArrayList<>())
        .add(
            new Point(
                a, b, y, x, row.positive(LATENCY) / MILLIS, row.file().getFileName().toString()));
  }

  private void row(Table table, CsvFile.Row row) {
    rows++;
    version(table, row);
    if (device == null && row.has("device")) {
      device = row.text("device");
    }
    switch (table) {
      case GEMM -> gemm(row);
      case ATTENTION -> attention(row);
      case CUSTOM_ALL_REDUCE -> customAllReduce(row);
      case NCCL -> nccl(row);
      case MOE -> moe(row);
    }
  }

  /** Times of two versions of a library must not become one table. */
  private void version(Table table, CsvFile.Row row) {
    String version = row.text("framework").toLowerCase(Locale.ROOT) + " " + row.text("version");
    Map<String, Path> known = versions.computeIfAbsent(table, t -> new LinkedHashMap<>());
    Path first = known.putIfAbsent(version, row.file());
    if (first == null && known.size() > 1) {
      throw new KernelSourceException(
          "Tables of one kind come from "
              + known.entrySet().stream()
                  .map(e -> e.getKey() + " (" + e.getValue() + ")")
                  .collect(Collectors.joining(" and "))
              + "; give the folder of one version");
    }
  }

  private void gemm(CsvFile.Row row) {
    types(row, "gemm_dtype")
        .ifPresent(
            t ->
                point(
                    new Family(Kind.GEMM, t.precision),
                    t.variant,
                    row.count("n"),
                    row.count("k"),
                    1,
                    row.count("m"),
                    row));
  }

  /** A type of weights, and which of its ways. */
  private record Types(Precision precision, String variant) {}

  /** Empty for a type that this program does not know. */
  private static Optional<Types> types(CsvFile.Row row, String column) {
    String name = row.text(column);
    // Scales by block are the other common way of fp8; where both were measured, by tensor counts.
    boolean block = name.equals("fp8_block");
    return type(block ? "fp8" : name)
        .map(
            t ->
                new Types(
                    t == ElementType.FP8
                        ? new Precision(t, ElementType.BF16, ElementType.BF16)
                        : Precision.uniform(t),
                    block ? "block" : ""));
  }

  private static Optional<ElementType> type(String name) {
    try {
      return Optional.of(ElementType.parse(name));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private void attention(CsvFile.Row row) {
    boolean context = row.text("op_name").equals("context_attention");
    boolean generation = row.text("op_name").equals("generation_attention");
    boolean window = row.has("window_size") && row.number("window_size") > 0;
    Optional<ElementType> act = type(row.text("attn_dtype"));
    Optional<ElementType> cache = type(row.text("kv_cache_dtype"));
    if (!context && !generation || window || act.isEmpty() || cache.isEmpty()) {
      return;
    }
    int dim = row.count("head_dim");
    int heads = row.count("num_heads");
    int kvHeads = row.count("num_key_value_heads");
    double tokens = row.count("isl");
    Family family =
        new Family(
            context ? Kind.PREFILL_ATTENTION : Kind.DECODE_ATTENTION,
            dim,
            dim,
            0,
            new Precision(act.get(), act.get(), cache.get()));
    double size = context ? tokens : tokens + row.number("step");
    point(family, "", heads, kvHeads, row.count("batch_size"), size, row);
  }

  private void customAllReduce(CsvFile.Row row) {
    type(row.text("allreduce_dtype"))
        .ifPresent(
            type -> {
              boolean eager = row.has("backend") && row.text("backend").endsWith("_eager");
              message(Kind.ALL_REDUCE, eager ? EAGER : "", type, row);
            });
  }

  /** By number of ranks. */
  private static Map<Double, Double> shortest(List<Point> eager) {
    Map<Double, Double> shortest = new HashMap<>();
    eager.forEach(p -> shortest.merge(p.a, p.seconds, Math::min));
    return shortest;
  }

  /**
   * Device times of an all-reduce are those of graph rows in both modes: an eager row is the longer
   * of what the host and what the device takes, and no rule that tells the two apart is certain to
   * give a shorter time for a shorter row. The shortest eager row is the host's.
   *
   * <p>The only thing that these tables say about launching: what a small eager all-reduce takes is
   * the host's. That other kernels cost as much to launch is assumed. Null without such rows.
   */
  private LaunchCosts launchCosts() {
    List<Point> eager =
        points
            .getOrDefault(new Family(Kind.ALL_REDUCE, Precision.BF16), Map.of())
            .getOrDefault(EAGER, List.of());
    if (eager.isEmpty()) {
      return null;
    }
    double host = Stats.median(shortest(eager).values().stream().mapToDouble(s -> s).toArray());
    return new LaunchCosts(host, Double.NaN, Double.NaN, Provenance.ASSUMED);
  }

  private void nccl(CsvFile.Row row) {
    Optional<ElementType> type = type(row.text("nccl_dtype"));
    if (type.isEmpty()) {
      return;
    }
    switch (row.text("op_name")) {
      // After "" and "eager": the engine's own all-reduce counts where it was measured.
      case "all_reduce" -> message(Kind.ALL_REDUCE, "nccl", type.get(), row);
      case "all_gather" -> message(Kind.ALL_GATHER, "", type.get(), row);
      default -> {}
    }
  }

  private void message(Kind kind, String variant, ElementType type, CsvFile.Row row) {
    double bytes = row.positive("message_size") * type.bytes();
    Family family = new Family(kind, Precision.BF16);
    point(family, variant, row.count("num_gpus"), 1, 1, bytes, row);
  }

  private void moe(CsvFile.Row row) {
    Optional<Types> types = types(row, "moe_dtype");
    if (types.isEmpty() || row.count("moe_ep_size") > 1) {
      return;
    }
    int tp = row.count("moe_tp_size");
    Family family =
        new Family(
            Kind.EXPERTS, row.count("num_experts"), row.count("topk"), 0, types.get().precision);
    String distribution = row.has("distribution") ? row.text("distribution") : "";
    // A trained router is not even; this skew is the one that aiconfigurator takes by default.
    String rank = distribution.equals("power_law_1.2") ? "0" : "1 " + distribution;
    point(
        family,
        types.get().variant + rank,
        row.count("hidden_size"),
        (double) row.count("inter_size") / tp,
        1,
        row.count("num_tokens"),
        row);
  }
}
