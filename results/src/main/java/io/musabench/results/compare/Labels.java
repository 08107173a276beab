package io.musabench.results.compare;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Short names for the cases of one table: without the packages that all share, and without
 * parameters that have one value everywhere, which the table's caption names instead. No two cases
 * get the same name.
 */
public final class Labels {
  private final int prefix;
  private final Map<String, String> shared;
  private final Map<String, String> labels = new HashMap<>();

  /** Names for these cases. */
  public Labels(Collection<MeasuredCase> cases) {
    prefix = prefix(cases.stream().map(MeasuredCase::benchmark).distinct().toList());
    shared = shared(cases);
    Map<String, Long> uses =
        cases.stream().collect(Collectors.groupingBy(this::label, Collectors.counting()));
    for (MeasuredCase c : cases) {
      String label = label(c);
      labels.put(c.id(), uses.get(label) == 1 ? label : c.id());
    }
  }

  /** Name of a case. */
  public String of(String id) {
    return labels.getOrDefault(id, id);
  }

  /** The parameters that the names leave out, for example {@code cache=cold dtype=bf16}. */
  public String caption() {
    return words(shared);
  }

  private String label(MeasuredCase c) {
    Map<String, String> own = new TreeMap<>(c.params());
    own.keySet().removeAll(shared.keySet());
    String name = c.benchmark().substring(prefix);
    return own.isEmpty() ? name : name + " " + words(own);
  }

  private static String words(Map<String, String> params) {
    return params.entrySet().stream()
        .map(e -> e.getKey() + "=" + e.getValue())
        .collect(Collectors.joining(" "));
  }

  /** Length of the packages that all names begin with; class and method stay. */
  private static int prefix(List<String> names) {
    if (names.isEmpty()) {
      return 0;
    }
    String first = names.get(0);
    int length = 0;
    for (int dot = first.indexOf('.'); dot > 0; dot = first.indexOf('.', dot + 1)) {
      String start = first.substring(0, dot + 1);
      boolean isPackage = Character.isLowerCase(first.charAt(length));
      if (!isPackage || !names.stream().allMatch(n -> n.startsWith(start))) {
        return length;
      }
      length = dot + 1;
    }
    return length;
  }

  private static Map<String, String> shared(Collection<MeasuredCase> cases) {
    Map<String, Set<String>> values = new TreeMap<>();
    for (MeasuredCase c : cases) {
      c.params().forEach((k, v) -> values.computeIfAbsent(k, x -> new TreeSet<>()).add(v));
    }
    Map<String, String> shared = new TreeMap<>();
    if (!cases.isEmpty()) {
      values.forEach(
          (name, all) -> {
            // Not every case needs to have it: what it is where it exists is said once.
            if (all.size() == 1) {
              shared.put(name, all.iterator().next());
            }
          });
    }
    return shared;
  }
}
