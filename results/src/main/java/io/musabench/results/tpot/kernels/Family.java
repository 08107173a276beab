package io.musabench.results.tpot.kernels;

import io.musabench.results.model.ElementType;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.kernels.TimeCurve.Blend;

/**
 * Calls that one {@link KernelTable} answers: they differ in nothing but the four numbers of the
 * table.
 *
 * @param kind which kernel, and what its four numbers are
 * @param first kind's first constant: size of a head's key, number of experts; else 0
 * @param second kind's second constant: size of a head's value, experts a token; else 0
 * @param page tokens of a page for decode attention, 0 where it does not matter or is not known
 * @param precision the types that matter to it
 */
record Family(Kind kind, int first, int second, int page, Precision precision) {
  /** Kernels, with what {@code (a, b | y, x)} are. */
  enum Kind {
    /** {@code (n, k | 1, m)}. */
    GEMM("gemm"),
    /** Causal, nothing cached: {@code (query heads, kv heads | requests, tokens of each)}. */
    PREFILL_ATTENTION("prefill attention"),
    /** No mask, nothing cached: as {@link #PREFILL_ATTENTION}. */
    FULL_ATTENTION("full attention"),
    /** One query token: {@code (query heads, kv heads | requests, context of each)}. */
    DECODE_ATTENTION("decode attention"),
    /** {@code (ranks, 1 | 1, bytes of the tensor)}. */
    ALL_REDUCE("all-reduce"),
    /** {@code (ranks, 1 | 1, bytes of the whole tensor)}. */
    ALL_GATHER("all-gather"),
    /** {@code (hidden, inner size | 1, tokens)}; its constants are experts and experts a token. */
    EXPERTS("experts"),
    /** {@code (elements of a row, 1 | 1, tokens)}, and so are all that follow. */
    EMBEDDING("embedding"),
    /** A row a token. */
    RMS_NORM("rms_norm"),
    /** A row a token. */
    FUSED_ADD_RMS_NORM("fused_add_rms_norm"),
    /** Heads that are normalised and rotated. */
    QK_NORM_ROPE("qk_norm_rope"),
    /** Heads that are rotated only. */
    ROPE("qk_norm_rope without norm"),
    /** Keys and values of a token. */
    KV_CACHE_WRITE("kv_cache_write"),
    /** The product's elements. */
    SILU_AND_MUL("silu_and_mul"),
    /** Logits. */
    ARGMAX("argmax"),
    /** Experts. */
    TOPK("topk_softmax");

    private final String text;

    Kind(String text) {
      this.text = text;
    }

    /** What reports call it. */
    String text() {
      return text;
    }

    boolean attention() {
      return this == PREFILL_ATTENTION || this == FULL_ATTENTION || this == DECODE_ATTENTION;
    }

    boolean communicates() {
      return this == ALL_REDUCE || this == ALL_GATHER;
    }

    /** Whether {@link Family#roof} is in seconds; else it is only in proportion to them. */
    boolean hasRoof() {
      return this == GEMM || this == EXPERTS || attention();
    }

    /** Prefill attention grows with the square of the prompt. */
    Blend blend() {
      return this == PREFILL_ATTENTION || this == FULL_ATTENTION ? Blend.SQUARE_ROOT : Blend.LINEAR;
    }
  }

  /** Makes bytes and elements less than any time in seconds. */
  static final double TINY = 1e-24;

  /** A kernel without constants. */
  Family(Kind kind, Precision precision) {
    this(kind, 0, 0, 0, precision);
  }

  /** Type of the operands of its arithmetic. */
  ElementType arithmetic() {
    return kind.attention() ? precision.activations() : precision.product();
  }

  /** What tells it from other families of its kind. */
  String describe() {
    String constants =
        kind.attention()
            ? "d=" + first + (first == second ? "" : "/" + second) + " "
            : kind == Kind.EXPERTS ? "experts=" + first + " k=" + second + " " : "";
    return constants + (page == 0 ? "" : "page=" + page + " ") + precision;
  }

  /** How far another family of the kind is: types weigh most, then constants, then the page. */
  double distance(Family other) {
    double types =
        apart(precision.product(), other.precision.product())
            + apart(precision.kvCache(), other.precision.kvCache())
            + apart(precision.activations(), other.precision.activations());
    return 100 * types
        + 10 * (octaves(first, other.first) + octaves(second, other.second))
        // Page 0 fits any page, but one that was measured with this very page fits better.
        + (page == other.page ? 0 : other.page == 0 ? 0.01 : 1 + octaves(page, other.page));
  }

  /** Whether a time of the other family is one of this family without more ado. */
  boolean answeredBy(Family other) {
    return first == other.first
        && second == other.second
        && (page == other.page || other.page == 0)
        && precision.equals(other.precision);
  }

  /** Whether a call of the other family does as much: it differs in the page or a type's name. */
  boolean sameWork(Family other) {
    return first == other.first
        && second == other.second
        && precision.product().bytes() == other.precision.product().bytes()
        && precision.activations().bytes() == other.precision.activations().bytes()
        && precision.kvCache().bytes() == other.precision.kvCache().bytes();
  }

  private static double apart(ElementType a, ElementType b) {
    return a == b ? 0 : a.bytes() == b.bytes() ? 0.1 : 1;
  }

  private static double octaves(int a, int b) {
    return a == b ? 0 : Math.abs(Math.log((a + 1.0) / (b + 1.0)));
  }

  /**
   * The roof of this family's points: the longer of bytes over bandwidth and FLOPs over the
   * arithmetic rate, counted as {@link io.musabench.results.model.KernelCall#work} counts them. Of
   * kernels that only move rows, and of communication, only the proportion is known here.
   */
  KernelTable.Roof roof(DeviceRoofs roofs) {
    double act = precision.activations().bytes();
    double weight = precision.weights().bytes();
    double cache = precision.kvCache().bytes();
    double bandwidth = roofs.readGbPerS() * 1e9;
    double product = roofs.tflopPerS(precision.product()) * 1e12;
    double other = roofs.tflopPerS(precision.activations()) * 1e12;
    double in = precision.product().bytes();
    return switch (kind) {
      case GEMM ->
          (n, k, y, m) ->
              longer(
                  (m * k * in + n * k * weight + m * n * act) / bandwidth, 2 * m * n * k / product);
      case PREFILL_ATTENTION, FULL_ATTENTION -> {
        double pairs = kind == Kind.PREFILL_ATTENTION ? 0.5 : 1;
        yield (q, kv, requests, tokens) ->
            longer(
                requests * tokens * (first + second) * (q * act + kv * cache) / bandwidth,
                2 * q * (first + second) * pairs * requests * tokens * tokens / other);
      }
      case DECODE_ATTENTION ->
          (q, kv, requests, context) ->
              longer(
                  requests * (first + second) * (q * act + context * kv * cache) / bandwidth,
                  2 * q * (first + second) * requests * context / other);
      case ALL_REDUCE, ALL_GATHER -> (ranks, b, y, bytes) -> bytes * (ranks - 1) / ranks * TINY;
      case EXPERTS ->
          (hidden, ffn, y, tokens) -> {
            double touched = first * -Math.expm1(tokens * Math.log1p(-(double) second / first));
            double values = 2 * tokens * hidden + 3 * tokens * second * ffn;
            return longer(
                (touched * 3 * hidden * ffn * weight + values * act) / bandwidth,
                6 * tokens * second * hidden * ffn / product);
          };
      default -> (width, b, y, tokens) -> width * tokens * TINY;
    };
  }

  /** Where the arithmetic rate is not known, bytes alone decide. */
  private static double longer(double byBytes, double byFlops) {
    return byFlops > byBytes ? byFlops : byBytes;
  }
}
