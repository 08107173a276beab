package io.musabench.results.tpot;

/** How the kernels of a step reach the device. */
public enum Mode {
  /** Launched one by one by the host. */
  EAGER,
  /** Replayed as a captured graph. */
  GRAPH;

  /** Name in files and on the command line. */
  public String text() {
    return this == EAGER ? "eager" : "graph";
  }
}
