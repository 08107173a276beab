package io.musabench.results.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** JMH result files with known content. */
final class Runs {
  private Runs() {}

  /** A file with one fork median around each given time; every fork has five iterations. */
  static Path jmh(Path file, long seed, int forks, double... nanos) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    List<String> entries = new ArrayList<>();
    for (int b = 0; b < nanos.length; b++) {
      List<String> raw = new ArrayList<>();
      for (int f = 0; f < forks; f++) {
        double shift = 0.002 * random.nextGaussian();
        List<String> iterations = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
          iterations.add(
              Double.toString(nanos[b] * Math.exp(shift + 0.002 * random.nextGaussian())));
        }
        raw.add(iterations.toString());
      }
      entries.add(entry("org.example.Bench.method" + b, "ns/op", raw.toString()));
    }
    return Files.writeString(file, entries.toString());
  }

  /** One result as JMH writes it, without the members that nobody reads. */
  static String entry(String benchmark, String unit, String rawData) {
    return """
        {"jmhVersion": "1.37", "benchmark": "%s", "mode": "avgt", "threads": 1, "forks": 5,
         "jvm": "/usr/lib/jvm/java", "jvmArgs": ["-Xmx1g", "-Djava.io.tmpdir=/somewhere"],
         "vmName": "VM", "vmVersion": "17.0.1", "params": {"size": "10"},
         "primaryMetric": {"score": 1, "scoreError": "NaN", "scoreConfidence": ["NaN", "NaN"],
           "scorePercentiles": {"0.0": 1}, "scoreUnit": "%s", "rawData": %s},
         "secondaryMetrics": {}}
        """
        .formatted(benchmark, unit, rawData);
  }

  static Comparison compare(Path base, Path candidate) {
    return Comparison.of(
        MeasuredRun.read(base), MeasuredRun.read(candidate), Comparison.Options.DEFAULT);
  }
}
