package io.musabench.results.serving;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Whether two runs sent the same prompts: then the second met a warm prefix cache. */
final class SamePrompts {
  private SamePrompts() {}

  static Optional<Finding> of(Summary s, List<Summary> all) {
    long[] mine = hashes(s);
    if (mine.length == 0) {
      return Optional.empty();
    }
    for (Summary o : all) {
      if (o == s) {
        break;
      }
      long[] theirs = hashes(o);
      long shared = 0;
      for (long h : mine) {
        shared += Arrays.binarySearch(theirs, h) >= 0 ? 1 : 0;
      }
      if (shared > 0.1 * mine.length) {
        return Optional.of(
            new Finding(
                "same_prompts",
                Finding.Level.WARN,
                shared + " of " + mine.length + " prompts were sent in " + o.run.source + " too",
                "prefix-cache hits make this run look faster; use another seed"));
      }
    }
    return Optional.empty();
  }

  private static long[] hashes(Summary s) {
    RequestTable t = s.run.requests;
    if (t == null || !t.hasPrompts()) {
      return new long[0];
    }
    long[] all = new long[t.size()];
    int n = 0;
    for (int i = 0; i < t.size(); i++) {
      if (t.promptHash(i) != 0) {
        all[n++] = t.promptHash(i);
      }
    }
    long[] some = Arrays.copyOf(all, n);
    Arrays.sort(some);
    return some;
  }
}
