package io.musabench.results.model;

import io.musabench.results.Nearest;
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
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** Reads a shape, as {@link KernelCall#shape} prints it. */
final class KernelCallReader {
  private static final Map<String, Function<KernelCallReader, KernelCall>> KERNELS =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("embedding", in -> new Embedding(in.count("t"), in.count("h"))),
              Map.entry("rms_norm", in -> new RmsNorm(in.count("t"), in.count("h"))),
              Map.entry(
                  "fused_add_rms_norm", in -> new FusedAddRmsNorm(in.count("t"), in.count("h"))),
              Map.entry(
                  "qk_norm_rope", in -> new QkNormRope(in.count("t"), in.heads(), in.flag("norm"))),
              Map.entry("kv_cache_write", KernelCallReader::kvCacheWrite),
              Map.entry("fmha_prefill", in -> new FmhaPrefill(in.batch(), in.heads(), in.mask())),
              Map.entry(
                  "paged_attention",
                  in -> new PagedAttention(in.batch(), in.heads(), in.mask(), in.count("page"))),
              Map.entry(
                  "gemm",
                  in ->
                      new Gemm(
                          in.count("m"),
                          in.count("n"),
                          in.count("k"),
                          in.given.containsKey("bias") && in.flag("bias"))),
              Map.entry("silu_and_mul", in -> new SiluAndMul(in.count("t"), in.count("f"))),
              Map.entry("argmax", in -> new Argmax(in.count("t"), in.count("v"))),
              Map.entry(
                  "topk_softmax",
                  in -> new TopK(in.count("t"), in.count("experts"), in.count("k"))),
              Map.entry(
                  "fused_experts",
                  in ->
                      new FusedExperts(
                          in.count("t"),
                          in.count("h"),
                          in.count("f"),
                          in.count("experts"),
                          in.count("k"))),
              Map.entry(
                  "all_reduce", in -> new AllReduce(in.number("elements"), in.count("ranks"))),
              Map.entry(
                  "all_gather", in -> new AllGather(in.number("elements"), in.count("ranks")))));

  private final String shape;
  private final Map<String, String> given = new LinkedHashMap<>();

  private KernelCallReader(String shape) {
    this.shape = shape;
    for (String word : shape.strip().split("\\s+")) {
      int equals = word.indexOf('=');
      given.put(
          equals < 0 ? word : word.substring(0, equals),
          equals < 0 ? "" : word.substring(equals + 1));
    }
  }

  static boolean knows(String kernel) {
    return KERNELS.containsKey(kernel);
  }

  static KernelCall read(String kernel, String shape) {
    Function<KernelCallReader, KernelCall> form = KERNELS.get(kernel);
    if (form == null) {
      throw new IllegalArgumentException(
          "no kernel is called \""
              + kernel
              + "\""
              + Nearest.hint(kernel, KERNELS.keySet())
              + "; known are "
              + String.join(", ", KERNELS.keySet()));
    }
    KernelCallReader in = new KernelCallReader(shape);
    KernelCall call = form.apply(in);
    // A word that nobody asked for would silently make another shape of this one.
    if (!in.given.isEmpty()) {
      throw new IllegalArgumentException(
          "the shape \""
              + shape
              + "\" of "
              + kernel
              + " has "
              + String.join(", ", in.given.keySet())
              + ", which it does not know; it is written like \""
              + call.shape()
              + "\"");
    }
    return call;
  }

  private KernelCall kvCacheWrite() {
    int kv = count("kv");
    String[] dims = text("d").split("/", 2);
    int dqk = (int) positive("d", dims[0], Integer.MAX_VALUE);
    int dv = dims.length == 1 ? dqk : (int) positive("d", dims[1], Integer.MAX_VALUE);
    // The number of query heads does not matter to it and is not in its shape.
    return new KvCacheWrite(count("t"), new HeadGeometry(kv, kv, dqk, dv));
  }

  private BatchSpec batch() {
    return BatchSpec.parse(text("batch"));
  }

  private HeadGeometry heads() {
    return HeadGeometry.parse(text("heads"));
  }

  private Mask mask() {
    boolean causal = given.remove("causal") != null;
    boolean full = given.remove("full") != null;
    if (causal == full) {
      throw new IllegalArgumentException(
          "the shape \"" + shape + "\" needs one of the words causal and full");
    }
    return causal ? Mask.CAUSAL : Mask.FULL;
  }

  private boolean flag(String name) {
    String text = text(name);
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default ->
          throw new IllegalArgumentException(name + " is true or false, not \"" + text + "\"");
    };
  }

  private int count(String name) {
    return (int) positive(name, text(name), Integer.MAX_VALUE);
  }

  private long number(String name) {
    return positive(name, text(name), Long.MAX_VALUE);
  }

  private static long positive(String name, String text, long most) {
    try {
      long value = Long.parseLong(text);
      if (value >= 1 && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Said below, with the text.
    }
    throw new IllegalArgumentException(name + " is a whole number from 1 on, not \"" + text + "\"");
  }

  private String text(String name) {
    String value = given.remove(name);
    if (value == null) {
      throw new IllegalArgumentException("the shape \"" + shape + "\" has no " + name + "=");
    }
    return value;
  }
}
