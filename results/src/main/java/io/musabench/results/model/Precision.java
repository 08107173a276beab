package io.musabench.results.model;

/**
 * In which types a model runs.
 *
 * <p>With fp8 weights the matrix products run in fp8: activations are quantised on their way in (by
 * the kernel before, which is not counted apart), so the product reads one byte an activation and
 * writes its result in the activations' type.
 *
 * @param weights type of the matrices of the layers
 * @param activations type of everything between the operations, of the embedding, of the norms and
 *     of lm_head
 * @param kvCache type of cached keys and values
 */
public record Precision(ElementType weights, ElementType activations, ElementType kvCache) {
  /** Everything in bf16. */
  public static final Precision BF16 = uniform(ElementType.BF16);

  /** What servers mean by fp8: products of fp8 weights and activations, all else in bf16. */
  public static final Precision FP8 =
      new Precision(ElementType.FP8, ElementType.BF16, ElementType.BF16);

  /** One type for everything. */
  public static Precision uniform(ElementType type) {
    return new Precision(type, type, type);
  }

  /** Type in which a matrix product reads both its operands' values. */
  public ElementType product() {
    return weights == ElementType.FP8 ? ElementType.FP8 : activations;
  }

  /** This precision with weights that were left in the activations' type. */
  public Precision unquantised() {
    return weights == activations ? this : new Precision(activations, activations, kvCache);
  }

  /** {@code bf16}, or {@code weights/activations/kvCache} where they differ. */
  @Override
  public String toString() {
    return weights == activations && activations == kvCache
        ? weights.text()
        : weights.text() + "/" + activations.text() + "/" + kvCache.text();
  }

  /**
   * A precision as people name it: {@code fp8} alone is {@link #FP8}; anything else as {@link
   * #parse} reads it.
   *
   * @throws IllegalArgumentException that shows a right form
   */
  public static Precision ofServer(String text) {
    return text.equalsIgnoreCase("fp8") ? FP8 : parse(text);
  }

  /**
   * Reads what {@link #toString} prints.
   *
   * @throws IllegalArgumentException that shows a right form
   */
  public static Precision parse(String text) {
    String[] parts = text.split("/", -1);
    return switch (parts.length) {
      case 1 -> uniform(ElementType.parse(parts[0]));
      case 3 ->
          new Precision(
              ElementType.parse(parts[0]),
              ElementType.parse(parts[1]),
              ElementType.parse(parts[2]));
      default ->
          throw new IllegalArgumentException(
              "Precision \""
                  + text
                  + "\" is not of the form bf16 or fp8/bf16/fp8 (weights/activations/KV cache)");
    };
  }
}
