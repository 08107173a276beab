package io.musabench.results.tpot.kernels;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.BatchSpec.Request;
import io.musabench.results.model.ElementType;
import io.musabench.results.model.HeadGeometry;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.KernelCall.FmhaPrefill;
import io.musabench.results.model.KernelCall.PagedAttention;
import io.musabench.results.model.Mask;
import io.musabench.results.model.Precision;
import io.musabench.results.stats.Stats;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.kernels.Family.Kind;
import io.musabench.results.tpot.kernels.KernelTime.OtherTypes;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Kernel times in tables, one a {@link Family}, wherever they were read from.
 *
 * <p>A call that was measured as it is gets that time. Any other is looked up in the table of its
 * family. Without such a table the nearest one of its kernel answers (another page or head size,
 * another type) with its utilisation held.
 */
final class TableSource implements KernelSource {
  /** One standard deviation of a time of a chunk; see {@link #chunk}. */
  private static final double CHUNK_ERROR = 0.25;

  /**
   * One standard deviation of a time that was measured with another page, or in the other 16-bit
   * type: as between two points of which nothing is known.
   */
  private static final double OTHER_KIND = LookupErrors.UNKNOWN_INSIDE;

  /**
   * The same of a time that was measured with other types or head sizes, its share of the roof
   * held: as far beyond the points.
   */
  private static final double OTHER_WORK = LookupErrors.UNKNOWN_BEYOND;

  /**
   * The same where the roofs of the other types are not known and the time itself is held: an fp8
   * product that is bound by its bytes takes half the time of one in bf16.
   */
  private static final double OTHER_WORK_KEPT = 0.5;

  /** With these the roof of a point is its bytes. */
  private static final DeviceRoofs BYTES =
      new DeviceRoofs(1e-9, Map.of(), 1e-9, Double.NaN, Provenance.ASSUMED);

  /** With these the roof of a point is its FLOPs. */
  private static final DeviceRoofs WORK =
      new DeviceRoofs(
          Double.POSITIVE_INFINITY,
          Map.of(
              ElementType.BF16, 1e-12,
              ElementType.FP16, 1e-12,
              ElementType.FP8, 1e-12,
              ElementType.FP32, 1e-12),
          Double.NaN,
          Double.NaN,
          Provenance.ASSUMED);

  private final String name;
  private final String device;
  private final DeviceRoofs roofs;
  private final LaunchCosts launch;
  private final Map<Kind, KernelTime> rules;
  private final MemoryRule memoryRule;
  private final Map<String, KernelTime> exact;
  private final Map<Kind, List<Entry>> tables = new EnumMap<>(Kind.class);
  private final double noise;
  private final List<String> remarks;

  /** One table, its errors computed when first needed. */
  private static final class Entry {
    final Family family;
    final KernelTable table;
    final String label;
    private volatile LookupErrors errors;
    private volatile double flops;

    Entry(Family family, KernelTable table, String label) {
      this.family = family;
      this.table = table;
      this.label = label;
    }

    /** The most FLOPs that a point of the table does in a second. */
    double flopsPerSecond() {
      double found = flops;
      if (found == 0) {
        found = table.best(family.roof(WORK));
        flops = found;
      }
      return found;
    }

    LookupErrors errors() {
      LookupErrors found = errors;
      if (found == null) {
        // Computed twice at worst, with the same result.
        found = new LookupErrors(table);
        errors = found;
      }
      return found;
    }
  }

  /**
   * What a table's owner assumes for kernels that only move rows: {@code bytes / bandwidth +
   * constant}.
   *
   * @param bytesPerSecond bandwidth that such a kernel reaches
   * @param seconds what it takes however little it moves
   * @param from where the two figures stand
   */
  record MemoryRule(double bytesPerSecond, double seconds, String from) {}

  private TableSource(Builder builder, DeviceRoofs roofs) {
    this.name = builder.name;
    this.device = builder.device;
    this.roofs = roofs;
    this.launch = builder.launch;
    this.rules = new EnumMap<>(Kind.class);
    this.rules.putAll(builder.contained);
    this.memoryRule = builder.memoryRule;
    this.exact = builder.exactTimes();
    builder.points.forEach(
        (family, points) ->
            tables
                .computeIfAbsent(family.kind(), k -> new ArrayList<>())
                .add(
                    new Entry(
                        family,
                        family.kind() == Kind.GEMM
                            ? points.buildOfRows(family.kind().blend(), family.roof(roofs))
                            : points.build(family.kind().blend(), family.roof(roofs)),
                        builder.labels.get(family))));
    this.noise = builder.noise();
    this.remarks = List.copyOf(builder.remarks);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Optional<String> device() {
    return Optional.ofNullable(device);
  }

  @Override
  public DeviceRoofs roofs() {
    return roofs;
  }

  @Override
  public Optional<LaunchCosts> launch() {
    return Optional.ofNullable(launch);
  }

  @Override
  public List<LookupError> leaveOneOut() {
    List<LookupError> all = new ArrayList<>();
    tables.forEach(
        (kind, entries) -> {
          for (Entry e : entries) {
            String operation =
                entries.size() == 1 ? kind.text() : kind.text() + " " + e.family.describe();
            all.addAll(e.errors().list(operation));
          }
        });
    return all;
  }

  @Override
  public List<String> remarks() {
    List<String> all = new ArrayList<>(remarks);
    tables.forEach(
        (kind, entries) -> {
          for (Entry e : entries) {
            if (e.table.replaced() > 0) {
              all.add(
                  "%s: %d of %d times of %s are over 25 %% longer than those of more rows, or of the"
                          .formatted(e.label, e.table.replaced(), e.table.size(), kind.text())
                      + " same rows in parts; the shorter time counts");
            }
            double[] below = kind.hasRoof() ? e.table.belowRoof() : new double[0];
            if (below.length > 0) {
              all.add(
                  String.format(
                          Locale.ROOT,
                          "%s: %d of %d times of %s are shorter than the roofs allow, the shortest by %.0f %%;",
                          e.label,
                          below.length,
                          e.table.size(),
                          kind.text(),
                          100 * (1 - below[0]))
                      + " they are taken as they are, but their data must have come from a cache");
            }
          }
        });
    return all;
  }

  @Override
  public Optional<KernelTime> time(KernelCall call, Precision precision) {
    if (!exact.isEmpty()) {
      KernelTime measured = exact.get(exactKey(call, precision));
      if (measured != null) {
        return Optional.of(measured);
      }
    }
    Place place = Place.of(call, precision);
    if (place == null) {
      return unlike(call, precision);
    }
    KernelTime rule = rules.get(place.family().kind());
    if (rule != null) {
      return Optional.of(rule);
    }
    Entry entry = nearest(place.family());
    if (entry == null) {
      return byMemoryRule(call, place, precision);
    }
    return Optional.of(lookUp(call, precision, place, entry));
  }

  private KernelTime lookUp(KernelCall call, Precision precision, Place place, Entry entry) {
    Family family = place.family();
    Found found = entry.table.at(place.a(), place.b(), place.y(), place.x());
    double seconds = found.seconds();
    int axes = found.axes() | place.axes();
    double error = error(entry, axes);
    if (family.answeredBy(entry.family)) {
      return new KernelTime(
          seconds, error, new Found(seconds, axes).provenance(), entry.label + how(axes));
    }
    axes |= Axis.BEYOND.bit();
    double here = roofs.seconds(call, precision);
    double there = entry.table.roof(place.a(), place.b(), place.y(), place.x());
    // Of rows the table knows only a proportion, which another type does not change.
    boolean scaled = family.kind().hasRoof() && here > 0 && there > 0;
    seconds = scaled ? entry.table.held(seconds, here / there) : seconds;
    // No point that was left out tells how far off another table is.
    double other =
        family.sameWork(entry.family) ? OTHER_KIND : scaled ? OTHER_WORK : OTHER_WORK_KEPT;
    OtherTypes types =
        family.precision().equals(entry.family.precision())
            ? null
            : new OtherTypes(entry.family.precision(), scaled);
    return new KernelTime(
        seconds,
        Math.hypot(error, other),
        Provenance.EXTRAPOLATED,
        entry.label + how(axes) + (types == null ? "" : how(types)),
        types);
  }

  /** Independent errors: of the measurement and of each axis along which the points were left. */
  private double error(Entry entry, int axes) {
    double measured =
        Double.isNaN(noise)
            // A point between two others misses their chord by its own error and half of each of
            // theirs: 1.5 times its variance, and more where the curve bends.
            ? entry.errors().sigma(Axis.SIZE) / Math.sqrt(1.5)
            : noise;
    double variance = measured * measured;
    for (Axis axis : Axis.values()) {
      if ((axes & axis.bit()) != 0) {
        double sigma = entry.errors().sigma(axis);
        variance += sigma * sigma;
      }
    }
    return Math.sqrt(variance);
  }

  private static String how(int axes) {
    if (axes == 0) {
      return "";
    }
    StringBuilder text = new StringBuilder(": ");
    for (Axis axis : Axis.values()) {
      if ((axes & axis.bit()) != 0) {
        text.append(text.length() > 2 ? ", " : "");
        text.append(axis == Axis.BEYOND ? "utilisation held" : "between " + axis.plural());
      }
    }
    return text.toString();
  }

  private static String how(OtherTypes types) {
    return "; measured in "
        + types.measured()
        + (types.scaled() ? ", its share of the roof held" : ", its time kept");
  }

  private Entry nearest(Family family) {
    List<Entry> entries = tables.get(family.kind());
    if (entries == null) {
      return null;
    }
    if (entries.size() == 1) {
      return entries.get(0);
    }
    Entry best = null;
    double least = Double.POSITIVE_INFINITY;
    for (Entry e : entries) {
      double distance = family.distance(e.family);
      if (distance < least) {
        least = distance;
        best = e;
      }
    }
    return best;
  }

  private Optional<KernelTime> byMemoryRule(KernelCall call, Place place, Precision precision) {
    if (memoryRule == null || place.family().kind().hasRoof()) {
      return Optional.empty();
    }
    double bytes = call.work(precision).bytes();
    return Optional.of(
        new KernelTime(
            bytes / memoryRule.bytesPerSecond() + memoryRule.seconds(),
            Fallback.RELATIVE_ERROR,
            Provenance.ASSUMED,
            memoryRule.from()));
  }

  /** Attention over a batch that is neither all decode nor all prefill. */
  private Optional<KernelTime> unlike(KernelCall call, Precision precision) {
    if (call instanceof PagedAttention p) {
      return p.batch().isMixed()
          ? mixed(p, precision)
          : chunk(p, p.batch(), p.heads(), p.mask(), p.pageSize(), precision);
    }
    FmhaPrefill f = (FmhaPrefill) call;
    return chunk(f, f.batch(), f.heads(), f.mask(), 1, precision);
  }

  /** Decodes and the rest apart, one after the other. */
  private Optional<KernelTime> mixed(PagedAttention p, Precision precision) {
    Optional<KernelTime> decodes = part(p, true, precision);
    Optional<KernelTime> others = part(p, false, precision);
    if (decodes.isEmpty() || others.isEmpty()) {
      return Optional.empty();
    }
    KernelTime a = decodes.get();
    KernelTime b = others.get();
    double seconds = a.seconds() + b.seconds();
    // One table and one way of running: their errors come together.
    double error = (a.seconds() * a.relativeError() + b.seconds() * b.relativeError()) / seconds;
    return Optional.of(
        new KernelTime(
            seconds,
            error,
            a.provenance().worse(b.provenance()).worse(Provenance.INTERPOLATED),
            "decodes " + a.from() + "; others " + b.from(),
            a.otherTypes() == null ? b.otherTypes() : a.otherTypes()));
  }

  private Optional<KernelTime> part(PagedAttention p, boolean decodes, Precision precision) {
    List<Request> requests =
        p.batch().requests().stream().filter(r -> r.isDecode() == decodes).toList();
    return time(
        new PagedAttention(new BatchSpec(requests), p.heads(), p.mask(), p.pageSize()), precision);
  }

  /**
   * Chunks after a cached prefix: the new tokens among themselves as a prefill, and on top the
   * pairs of new tokens and cached keys at the best rate of all points (the bytes of the cached
   * keys at the bandwidth, if that takes longer); but never less than a decode over the same
   * contexts.
   *
   * <p>Held against 88 chunks of 16 to 2048 tokens after 16 to 16384 cached ones, as LLMServingSim
   * measured them on an RTX 4090 under vLLM: median error 19 %, 14 % from 128 new tokens on. Chunks
   * of few tokens over long prefixes took up to four times as long there, because that kernel did
   * not split the keys.
   */
  private Optional<KernelTime> chunk(
      KernelCall call,
      BatchSpec batch,
      HeadGeometry heads,
      Mask mask,
      int page,
      Precision precision) {
    KernelCall alone = new FmhaPrefill(batch.withoutCached(), heads, mask);
    KernelCall reading = new PagedAttention(batch.asDecode(), heads, Mask.CAUSAL, page);
    KernelCall[] both = {alone, reading};
    Optional<KernelTime> prefill =
        time(alone, precision).map(t -> longer(t, cached(batch, heads, both, precision)));
    Optional<KernelTime> decode = time(reading, precision);
    if (prefill.isEmpty() && decode.isEmpty()) {
      return Optional.empty();
    }
    KernelTime time =
        prefill.isEmpty() || decode.isPresent() && decode.get().seconds() > prefill.get().seconds()
            ? decode.get()
            : prefill.get();
    // A chunk that mixes short and long prefixes may otherwise come out below its roof.
    double seconds = Math.max(time.seconds(), zeroIfUnknown(roofs.seconds(call, precision)));
    return Optional.of(
        new KernelTime(
            seconds,
            Math.max(time.relativeError(), CHUNK_ERROR),
            Provenance.EXTRAPOLATED,
            time.from() + ": a chunk after a cached prefix",
            time.otherTypes()));
  }

  private static KernelTime longer(KernelTime time, double seconds) {
    return new KernelTime(
        time.seconds() + seconds,
        time.relativeError(),
        time.provenance(),
        time.from(),
        time.otherTypes());
  }

  /** Seconds that new tokens spend on cached keys. */
  private double cached(
      BatchSpec batch, HeadGeometry heads, KernelCall[] alike, Precision precision) {
    double dims = heads.qkDim() + heads.vDim();
    double pairs = batch.sum(r -> (double) r.qLen() * (r.kvLen() - r.qLen()));
    double keys = batch.sum(r -> r.kvLen() - r.qLen());
    double bytes = keys * heads.kvHeads() * dims * precision.kvCache().bytes();
    double rate = 0;
    for (KernelCall call : alike) {
      Place place = Place.of(call, precision);
      Entry entry = place == null ? null : nearest(place.family());
      rate = Math.max(rate, entry == null ? 0 : entry.flopsPerSecond());
    }
    double byFlops = rate == 0 ? 0 : 2 * heads.qHeads() * dims * pairs / rate;
    return Math.max(zeroIfUnknown(bytes / (roofs.readGbPerS() * 1e9)), byFlops);
  }

  private static double zeroIfUnknown(double seconds) {
    return Double.isNaN(seconds) ? 0 : seconds;
  }

  private static String exactKey(KernelCall call, Precision precision) {
    return call.key() + " " + precision;
  }

  /** Collects points. */
  static final class Builder {
    private final String name;
    private final Map<Family, KernelTable.Builder> points = new LinkedHashMap<>();
    private final Map<Family, String> labels = new HashMap<>();
    private final Map<String, List<Measured>> calls = new LinkedHashMap<>();
    private final Map<Kind, KernelTime> contained = new EnumMap<>(Kind.class);
    private final List<String> remarks = new ArrayList<>();
    private String device;
    private LaunchCosts launch;
    private MemoryRule memoryRule;

    private record Measured(
        double seconds, double relativeError, Provenance provenance, String from) {}

    Builder(String name) {
      this.name = name;
    }

    /** A point of a table. */
    void add(Family family, double a, double b, double y, double x, double seconds, String from) {
      labels.putIfAbsent(family, from);
      points.computeIfAbsent(family, f -> new KernelTable.Builder()).add(a, b, y, x, seconds);
    }

    /**
     * A measured call; given several times it counts as the median.
     *
     * @param relativeError one standard deviation, NaN if not known
     */
    void add(
        KernelCall call,
        Precision precision,
        double seconds,
        double relativeError,
        Provenance provenance,
        String from) {
      calls
          .computeIfAbsent(exactKey(call, precision), k -> new ArrayList<>(1))
          .add(new Measured(seconds, relativeError, provenance, from));
      Place place = Place.of(call, precision);
      if (place != null && place.axes() == 0) {
        add(place.family(), place.a(), place.b(), place.y(), place.x(), seconds, from);
      }
    }

    /** What a reader of the times must know, one sentence. */
    void remark(String sentence) {
      remarks.add(sentence);
    }

    /** What was measured; null if that is not known. */
    void device(String name) {
      device = name;
    }

    void launch(LaunchCosts costs) {
      launch = costs;
    }

    void memoryRule(MemoryRule rule) {
      memoryRule = rule;
    }

    /** Says that the times of another kernel contain this one's. */
    void contained(Kind kind, String in) {
      contained.put(kind, new KernelTime(0, 0, Provenance.MEASURED, "contained in " + in));
    }

    boolean isEmpty() {
      return points.isEmpty() && calls.isEmpty();
    }

    /**
     * The source.
     *
     * @param roofs what is known of the device; what is not is taken from the best points
     */
    TableSource build(DeviceRoofs roofs) {
      return new TableSource(this, completed(roofs));
    }

    private Map<String, KernelTime> exactTimes() {
      double usual = noise();
      double unknown = Double.isNaN(usual) ? LookupErrors.UNKNOWN_INSIDE / 2 : usual;
      Map<String, KernelTime> times = new HashMap<>();
      calls.forEach(
          (key, list) -> {
            double[] seconds = list.stream().mapToDouble(Measured::seconds).toArray();
            double median = Stats.median(seconds);
            double spread =
                list.size() == 1 ? 0 : Stats.iqr(seconds) / (2 * LookupErrors.MEDIAN_TO_SIGMA);
            double own =
                list.stream()
                    .mapToDouble(Measured::relativeError)
                    .filter(e -> e >= 0)
                    .max()
                    .orElse(unknown);
            Provenance worst =
                list.stream().map(Measured::provenance).reduce(Provenance::worse).orElseThrow();
            times.put(
                key,
                new KernelTime(median, Math.max(own, spread / median), worst, list.get(0).from()));
          });
      return times;
    }

    /** One standard deviation of a measured point; NaN where nothing was measured twice. */
    private double noise() {
      double[] own =
          calls.values().stream()
              .flatMap(List::stream)
              .mapToDouble(Measured::relativeError)
              .filter(e -> e >= 0)
              .toArray();
      if (own.length > 0) {
        return Stats.median(own);
      }
      double[] apart =
          points.values().stream().flatMap(p -> p.repeats().stream()).mapToDouble(d -> d).toArray();
      // Two measurements are apart by sqrt(2) standard deviations of one.
      return apart.length == 0
          ? Double.NaN
          : Stats.median(apart) / LookupErrors.MEDIAN_TO_SIGMA / Math.sqrt(2);
    }

    /** The device can do at least what a kernel did on it. */
    private DeviceRoofs completed(DeviceRoofs given) {
      double[] read = {given.readGbPerS()};
      double[] link = {given.linkGbPerS()};
      boolean readMissing = Double.isNaN(read[0]);
      boolean linkMissing = Double.isNaN(link[0]);
      Map<ElementType, Double> flops = new EnumMap<>(ElementType.class);
      flops.putAll(given.tflopPerS());
      points.forEach(
          (family, table) -> {
            if (family.kind().communicates()) {
              if (linkMissing) {
                double factor = family.kind() == Kind.ALL_REDUCE ? 2 : 1;
                // The roof of communication is its bytes times a number that makes them small.
                double rate = factor * table.best(family.roof(BYTES)) / Family.TINY;
                link[0] = greater(link[0], rate / 1e9);
              }
            } else if (family.kind().hasRoof()) {
              if (readMissing) {
                read[0] = greater(read[0], table.best(family.roof(BYTES)) / 1e9);
              }
              ElementType type = family.arithmetic();
              if (!given.tflopPerS().containsKey(type)) {
                flops.merge(type, table.best(family.roof(WORK)) / 1e12, Math::max);
              }
            }
          });
      return new DeviceRoofs(read[0], flops, link[0], given.memoryBytes(), given.provenance());
    }

    private static double greater(double known, double candidate) {
      return Double.isNaN(known) ? candidate : Math.max(known, candidate);
    }
  }
}
