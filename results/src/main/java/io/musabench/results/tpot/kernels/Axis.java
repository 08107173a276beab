package io.musabench.results.tpot.kernels;

/** Along what a look-up left the measured points. */
enum Axis {
  /** Between two sizes of one curve: rows of a product, context, tokens, bytes. */
  SIZE("size"),
  /** Between two batches. */
  BATCH("batch"),
  /** Between the matrices, head geometries or widths that were measured. */
  SITE("shape"),
  /** Outside of what was measured: the utilisation of the edge is held. */
  BEYOND("beyond");

  private final String text;

  Axis(String text) {
    this.text = text;
  }

  String text() {
    return text;
  }

  String plural() {
    return this == BATCH ? "batches" : text + "s";
  }

  int bit() {
    return 1 << ordinal();
  }
}
