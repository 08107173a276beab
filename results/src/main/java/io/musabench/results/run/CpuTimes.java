package io.musabench.results.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/**
 * How much the CPUs have worked so far, and this process with the children it has waited for, in
 * the kernel's ticks (proc(5)): of two readings the difference says what others did in between.
 *
 * @param total all time of all CPUs
 * @param busy the part in which they worked
 * @param steal the part that the hypervisor gave to others
 * @param own what this process and its ended children used
 */
public record CpuTimes(long total, long busy, long steal, long own) {
  // Columns of the line "cpu" of /proc/stat; guest time is part of user time.
  private static final int IDLE = 3;
  private static final int IOWAIT = 4;
  private static final int STEAL = 7;
  private static final int COUNTED = 8;

  // Columns behind the state in /proc/<pid>/stat, from 0: utime, stime, cutime, cstime.
  private static final int UTIME = 10;
  private static final int CSTIME = 13;

  /**
   * What others did between two readings.
   *
   * @param otherPercent share of all CPUs' time that other processes took; NaN if not known
   * @param stealPercent share that the hypervisor gave to others; NaN if not known
   */
  public record Others(double otherPercent, double stealPercent) {
    /** Not known. */
    public static final Others UNKNOWN = new Others(Double.NaN, Double.NaN);
  }

  /** The times now; empty where the system does not tell them as Linux does. */
  public static Optional<CpuTimes> now() {
    return read(Path.of("/"));
  }

  /**
   * The same from a copy of the files.
   *
   * @param root the root folder, with {@code proc} in it
   */
  static Optional<CpuTimes> read(Path root) {
    try {
      String first = Files.readString(root.resolve("proc/stat")).lines().findFirst().orElse("");
      String self = Files.readString(root.resolve("proc/self/stat"));
      long[] cpu = numbers(first.replaceFirst("cpu\\s+", ""));
      long[] own = numbers(self.substring(self.lastIndexOf(')') + 4)); // ") S " before the numbers
      long total = Arrays.stream(cpu, 0, COUNTED).sum();
      long busy = total - cpu[IDLE] - cpu[IOWAIT] - cpu[STEAL];
      return Optional.of(
          new CpuTimes(total, busy, cpu[STEAL], Arrays.stream(own, UTIME, CSTIME + 1).sum()));
    } catch (IOException | RuntimeException e) {
      return Optional.empty();
    }
  }

  /** The first numbers of a line; later ones of /proc/self/stat can be beyond a long. */
  private static long[] numbers(String text) {
    return Arrays.stream(text.strip().split("\\s+"))
        .limit(CSTIME + 1)
        .mapToLong(Long::parseLong)
        .toArray();
  }

  /** What others did since an earlier reading. */
  public Others since(CpuTimes earlier) {
    double all = total - earlier.total;
    if (!(all > 0)) {
      return Others.UNKNOWN;
    }
    double others = busy - earlier.busy - (own - earlier.own);
    return new Others(
        100 * Math.max(0, others) / all, 100 * Math.max(0, steal - earlier.steal) / all);
  }
}
