package io.musabench.jmh.cli;

import java.util.List;
import java.util.SortedMap;

/**
 * One benchmark as compiled in.
 *
 * @param method JMH's name, class and method
 * @param parameters parameter names with their default values
 */
record Benchmark(String method, SortedMap<String, List<String>> parameters) {
  private static final String ROOT = "io.musabench.jmh.";

  /** Name of the class. */
  String type() {
    return method.substring(0, method.lastIndexOf('.'));
  }

  /** Short name, group and class: {@code attention.PagedDecode}. */
  String name() {
    String type = type();
    return type.startsWith(ROOT) ? type.substring(ROOT.length()) : type;
  }

  /** The package below the root: {@code attention}. */
  String group() {
    return name().substring(0, name().lastIndexOf('.'));
  }

  /** Class name alone: {@code PagedDecode}. */
  String simpleName() {
    return name().substring(name().lastIndexOf('.') + 1);
  }
}
