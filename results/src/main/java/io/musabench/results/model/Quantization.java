package io.musabench.results.model;

import java.util.List;
import java.util.Set;

/**
 * How the weights of a checkpoint are quantised, from the {@code quantization_config} of its file.
 *
 * @param method what quantised them, in words: {@code fp8}, {@code awq, 4 bits}
 * @param fp8 whether products run on fp8 (e4m3) weights and inputs; nothing else is predicted here
 * @param fp8KvCache whether the checkpoint has scales for an fp8 KV cache
 * @param left roles whose weights stay in the activations' type in every layer
 * @param mixed roles of which only some layers stay so, in words
 */
public record Quantization(
    String method, boolean fp8, boolean fp8KvCache, Set<String> left, List<String> mixed) {
  /** Copies the collections. */
  public Quantization {
    left = Set.copyOf(left);
    mixed = List.copyOf(mixed);
  }
}
