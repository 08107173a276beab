package io.musabench.bindings.management;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * A link from a device to another one: MTLink or NVLink.
 *
 * @param index the library's number of the link
 * @param state {@code up}, {@code down}, {@code downgraded} or {@code unknown}
 * @param gigabytesPerSecond the link's bandwidth by its specification
 */
public record DeviceLink(int index, String state, OptionalDouble gigabytesPerSecond) {
  /** A link that works, but at less than its bandwidth. */
  public static final String DOWNGRADED = "downgraded";

  /** A device's links in a few words: {@code 1 down, 2 up, 112 GB/s each}; empty for none. */
  public static String summary(List<DeviceLink> links) {
    if (links.isEmpty()) {
      return "";
    }
    Map<String, Long> states =
        links.stream()
            .collect(Collectors.groupingBy(DeviceLink::state, TreeMap::new, Collectors.counting()));
    String text =
        states.entrySet().stream()
            .map(entry -> entry.getValue() + " " + entry.getKey())
            .collect(Collectors.joining(", "));
    OptionalDouble each = links.get(0).gigabytesPerSecond();
    return each.isEmpty()
        ? text
        : text + String.format(Locale.ROOT, ", %.0f GB/s each", each.getAsDouble());
  }
}
