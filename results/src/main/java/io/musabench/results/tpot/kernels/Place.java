package io.musabench.results.tpot.kernels;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;
import io.musabench.results.model.KernelCall;
import io.musabench.results.model.KernelCall.AllGather;
import io.musabench.results.model.KernelCall.AllReduce;
import io.musabench.results.model.KernelCall.Argmax;
import io.musabench.results.model.KernelCall.Embedding;
import io.musabench.results.model.KernelCall.FmhaPrefill;
import io.musabench.results.model.KernelCall.FusedAddRmsNorm;
import io.musabench.results.model.KernelCall.FusedExperts;
import io.musabench.results.model.KernelCall.Gemm;
import io.musabench.results.model.KernelCall.KvCacheWrite;
import io.musabench.results.model.KernelCall.PagedAttention;
import io.musabench.results.model.KernelCall.QkNormRope;
import io.musabench.results.model.KernelCall.RmsNorm;
import io.musabench.results.model.KernelCall.SiluAndMul;
import io.musabench.results.model.KernelCall.TopK;
import io.musabench.results.model.Mask;
import io.musabench.results.model.Precision;
import io.musabench.results.tpot.kernels.Family.Kind;

/**
 * Where a call lies in the table of its family.
 *
 * @param family which table
 * @param a first number of the site
 * @param b second number of the site
 * @param y batch
 * @param x size
 * @param axes 0 if a time at this place is the time of this very call; {@link Axis#SIZE} for
 *     unequal requests that are only as much work; {@link Axis#BEYOND} for chunks after a cached
 *     prefix, which are another kind of work
 */
record Place(Family family, double a, double b, double y, double x, int axes) {
  /** The place of a call; null for attention that is neither all decode nor all prefill. */
  static Place of(KernelCall call, Precision precision) {
    if (call instanceof Gemm g) {
      // A bias is added on the way out and costs next to nothing.
      return new Place(new Family(Kind.GEMM, product(precision)), g.n(), g.k(), 1, g.m(), 0);
    }
    if (call instanceof PagedAttention p) {
      return attention(p.batch(), p.heads(), p.mask(), p.pageSize(), precision);
    }
    if (call instanceof FmhaPrefill f) {
      return attention(f.batch(), f.heads(), f.mask(), 0, precision);
    }
    if (call instanceof AllReduce r) {
      return communication(Kind.ALL_REDUCE, r.elements(), r.ranks(), precision);
    }
    if (call instanceof AllGather g) {
      return communication(Kind.ALL_GATHER, g.elements(), g.ranks(), precision);
    }
    if (call instanceof FusedExperts e) {
      Family family = new Family(Kind.EXPERTS, e.experts(), e.k(), 0, product(precision));
      return new Place(family, e.hidden(), e.ffn(), 1, e.tokens(), 0);
    }
    return rows(call, precision);
  }

  private static Place rows(KernelCall call, Precision precision) {
    Precision act = Precision.uniform(precision.activations());
    if (call instanceof Embedding e) {
      return rows(Kind.EMBEDDING, e.hidden(), e.tokens(), act);
    }
    if (call instanceof RmsNorm n) {
      return rows(Kind.RMS_NORM, n.hidden(), n.tokens(), act);
    }
    if (call instanceof FusedAddRmsNorm n) {
      return rows(Kind.FUSED_ADD_RMS_NORM, n.hidden(), n.tokens(), act);
    }
    if (call instanceof QkNormRope r) {
      int width = (r.heads().qHeads() + r.heads().kvHeads()) * r.heads().qkDim();
      return rows(r.norm() ? Kind.QK_NORM_ROPE : Kind.ROPE, width, r.tokens(), act);
    }
    if (call instanceof KvCacheWrite w) {
      int width = w.heads().kvHeads() * (w.heads().qkDim() + w.heads().vDim());
      return rows(Kind.KV_CACHE_WRITE, width, w.tokens(), attention(precision));
    }
    if (call instanceof SiluAndMul s) {
      return rows(Kind.SILU_AND_MUL, s.ffn(), s.tokens(), act);
    }
    if (call instanceof Argmax m) {
      return rows(Kind.ARGMAX, m.vocab(), m.tokens(), act);
    }
    if (call instanceof TopK t) {
      return new Place(new Family(Kind.TOPK, t.k(), 0, 0, act), t.experts(), 1, 1, t.tokens(), 0);
    }
    throw new IllegalStateException("No table holds " + call.key());
  }

  private static Place rows(Kind kind, int width, int tokens, Precision precision) {
    return new Place(new Family(kind, precision), width, 1, 1, tokens, 0);
  }

  /** Only bytes matter. */
  private static Place communication(Kind kind, long elements, int ranks, Precision precision) {
    double bytes = (double) elements * precision.activations().bytes();
    return new Place(new Family(kind, Precision.BF16), ranks, 1, 1, bytes, 0);
  }

  /** A product knows no KV cache. */
  static Precision product(Precision p) {
    return p.kvCache() == p.activations()
        ? p
        : new Precision(p.weights(), p.activations(), p.activations());
  }

  /** Attention knows no weights. */
  static Precision attention(Precision p) {
    return p.weights() == p.activations()
        ? p
        : new Precision(p.activations(), p.activations(), p.kvCache());
  }

  /**
   * Decodes lie at their mean context, because attention is linear in the sum of the contexts.
   * Prefills of unequal lengths lie where as many tokens attend to as many keys: {@code (Σn)²/Σn²}
   * requests of {@code Σn²/Σn} tokens.
   */
  private static Place attention(
      BatchSpec batch, HeadGeometry heads, Mask mask, int page, Precision precision) {
    Precision types = attention(precision);
    boolean uniform = batch.isUniform();
    int axes = uniform ? 0 : Axis.SIZE.bit();
    if (batch.isDecode()) {
      Family family = new Family(Kind.DECODE_ATTENTION, heads.qkDim(), heads.vDim(), page, types);
      double mean = (double) batch.totalKv() / batch.size();
      return new Place(family, heads.qHeads(), heads.kvHeads(), batch.size(), mean, axes);
    }
    if (!batch.isPrefill()) {
      return null;
    }
    Kind kind = mask == Mask.CAUSAL ? Kind.PREFILL_ATTENTION : Kind.FULL_ATTENTION;
    Family family = new Family(kind, heads.qkDim(), heads.vDim(), 0, types);
    double sum = batch.totalQ();
    double squares = batch.sum(r -> (double) r.qLen() * r.qLen());
    // Rounding would miss the measured point.
    double y = uniform ? batch.size() : sum * sum / squares;
    double x = uniform ? batch.maxQ() : squares / sum;
    return new Place(family, heads.qHeads(), heads.kvHeads(), y, x, axes);
  }
}
