package io.musabench.jmh.cli;

import io.musabench.jmh.device.Libraries;
import io.musabench.jmh.gemm.Projection;
import io.musabench.jmh.step.CapturedSizes;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.HeadGeometry;
import io.musabench.results.model.Models;
import java.util.List;

/** The parameters of the benchmarks in this module. */
final class BenchmarkParameters {
  // Less is over before its launch: a roof of it would be one of launches, not of the device.
  private static final long LEAST_BYTES = 64L << 20;
  private static final long LEAST_ITERATIONS = 10_000;

  private BenchmarkParameters() {}

  /** Models that come with the suite; a path of a config.json is a model too. */
  static List<String> models() {
    return Models.names();
  }

  static ParameterTable table() {
    return new ParameterTable(
        List.of(
            Parameter.choice(
                "backend",
                "mate's implementation: auto is mate's own choice, mubin the assembler kernel"
                    + " flash_atten_varlen_asm, mutlass the generated kernels fmha_fwd_*",
                List.of("auto", "mubin", "mutlass")),
            Parameter.parsed(
                "batch",
                "requests as [count]q<tokens>[s<context>]: q256, 8q1s1k, 2q1ks4k, 4q1k_16q1s2k",
                BatchSpec::parse),
            Parameter.integer(
                "bytes", "bytes moved; better more than twice the last-level cache", LEAST_BYTES),
            Parameter.choice(
                "cache",
                "cold: the data is not in a cache when a sample starts; hot: the last launch left"
                    + " it there; batch: hot, and the one sample of a session is the mean of a long row"
                    + " of launches, so that all other work of the machine meanwhile is in it, where"
                    + " the other modes have a median of many; step: as in a step, launches back to"
                    + " back, weights and KV cold, activations warm",
                List.of("cold", "hot", "batch", "step")),
            Parameter.parsed(
                "captured",
                "requests that a padded decode graph is captured for; vllm: the least of vLLM's"
                    + " default sizes that holds the batch",
                CapturedSizes::parse),
            Parameter.choice(
                "causal", "bottom-right aligned causal mask", List.of("true", "false")),
            Parameter.choice("dtype", "type of activations and weights", List.of("bf16", "fp16")),
            Parameter.choice(
                "gemm",
                "whose matrix products a step has; auto: the vendor's BLAS where it is found",
                List.of(Libraries.AUTO, Libraries.PORTABLE, Libraries.BLAS)),
            Parameter.parsed(
                "heads",
                "query heads:kv heads:head size, for example 16:8:128; FmhaPrefill also 128:128:192/128,"
                    + " MlaDecode 128:1:576/512",
                HeadGeometry::parse),
            Parameter.integer(
                "iterations", "rounds of multiply-adds in registers", LEAST_ITERATIONS),
            Parameter.choice(
                "kernel",
                "which of mate's MLA kernels; auto: flash_mla_asm with 128 heads, else"
                    + " mla_with_kvcache",
                List.of("auto", "mla", "mla_with_kvcache", "flash_mla_asm")),
            Parameter.choice(
                Libraries.PARAMETER,
                "whose kernels: portable, mate (attention and steps), blas (Gemm); auto: portable,"
                    + " and also mate or blas where it is found (of a step, that alone)",
                List.of(Libraries.AUTO, Libraries.PORTABLE, Libraries.MATE, Libraries.BLAS)),
            Parameter.choice(
                "memory",
                "device memory, or page-locked memory of the host",
                List.of("device", "host")),
            Parameter.choice(
                "metadata",
                "mate's scheduler metadata, which splits the KV length: with, without, or only the"
                    + " kernel that computes it",
                List.of("with", "without", "only")),
            Parameter.choice(
                "mode",
                "eager: each kernel launched by itself; graph: one captured graph replayed",
                List.of("eager", "graph")),
            Parameter.parsed(
                "model",
                "model name (musabench list) or path of a Hugging Face config.json",
                Models::find),
            Parameter.integer("mpMargin", "multiprocessors that mate leaves free", 0),
            Parameter.integer("nodes", "kernels in the graph", 1),
            Parameter.choice(
                "packGqa",
                "whether the query heads of a KV head share a tile; auto: mate's own rule",
                List.of("auto", "true", "false")),
            Parameter.integer("page", "tokens of a page of the KV cache", 1),
            Parameter.parsed(
                "projection",
                "which matrix of the model: %s; or a size as <outputs>x<inputs>"
                    .formatted(String.join(", ", Projection.ROLES)),
                Projection::parse),
            Parameter.integer("ranks", "devices that take part", 2),
            Parameter.integer("seed", "seed of inputs, weights and page order", 0),
            Parameter.choice(
                "sharedWeights",
                "true: all layers use one layer's weights, to fit a model in less memory; then"
                    + " weights may be cached and the output says so",
                List.of("false", "true")),
            Parameter.parsed(
                "softcap",
                "c > 0: scores become c*tanh(score/c); 0: off",
                value -> {
                  double cap = Double.parseDouble(value);
                  if (!(cap >= 0) || Double.isInfinite(cap)) {
                    throw new IllegalArgumentException("must be 0 or more");
                  }
                  return cap;
                }),
            Parameter.integer("splits", "parts the KV length is split into; 0: heuristic", 0),
            Parameter.choice(
                "streams",
                "concurrent sequential streams a core",
                List.of("1", "2", "4", "8", "16")),
            Parameter.integer("tokens", "rows of activations", 1),
            Parameter.integer("tp", "tensor-parallel ranks; one rank's share is measured", 1),
            Parameter.integer("window", "keys visible to the left of a query; -1: all", -1)));
  }
}
