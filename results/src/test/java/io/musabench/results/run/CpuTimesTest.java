package io.musabench.results.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.musabench.results.run.CpuTimes.Others;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CpuTimesTest {
  @TempDir private Path root;

  private CpuTimes read(String cpu, String self) throws IOException {
    Files.createDirectories(root.resolve("proc/self"));
    Files.writeString(root.resolve("proc/stat"), cpu);
    Files.writeString(root.resolve("proc/self/stat"), self);
    return CpuTimes.read(root).orElseThrow();
  }

  // utime, stime, cutime and cstime are the 14th to 17th fields.
  private static String self(int utime, int stime, int cutime, int cstime) {
    return "42 (a (b) c) S 1 42 42 0 -1 4194560 9 8 7 6 %d %d %d %d 20 0 1 0 5 6 7"
        .formatted(utime, stime, cutime, cstime);
  }

  @Test
  void shouldTellOthersWorkFromOwnAndStolenTime() throws IOException {
    CpuTimes before = read("cpu  100 0 50 800 40 0 10 0 0 0\ncpu0 1 2 3\n", self(1, 2, 3, 4));
    assertThat(before).isEqualTo(new CpuTimes(1000, 160, 0, 10));
    CpuTimes after = read("cpu  250 0 100 1340 40 0 20 250 90 0\n", self(11, 12, 43, 54));
    Others others = after.since(before);
    // Of 1000 ticks 210 were busy, 110 of them this process and its children.
    assertThat(others.otherPercent()).isCloseTo(10, within(1e-9));
    assertThat(others.stealPercent()).isCloseTo(25, within(1e-9));
  }

  @Test
  void shouldKnowNothingWhereThereIsNoProc() throws IOException {
    assertThat(CpuTimes.read(root)).isEmpty();
    Files.createDirectories(root.resolve("proc/self"));
    Files.writeString(root.resolve("proc/stat"), "cpu 1 2\n");
    Files.writeString(root.resolve("proc/self/stat"), "42");
    assertThat(CpuTimes.read(root)).isEmpty();
    CpuTimes same = new CpuTimes(10, 5, 0, 1);
    assertThat(same.since(same)).isEqualTo(Others.UNKNOWN);
  }

  @Test
  void shouldCountOwnWorkAsOwn() {
    CpuTimes before = CpuTimes.now().orElseThrow();
    CpuTimes after = before;
    long end = System.nanoTime() + 30_000_000_000L; // Of a machine that has hardly a CPU for this.
    while (after.own() - before.own() < 5 && System.nanoTime() < end) {
      after = CpuTimes.now().orElseThrow();
    }
    assertThat(after.own() - before.own()).isGreaterThanOrEqualTo(5);
    assertThat(after.since(before).otherPercent()).isBetween(0.0, 100.0);
  }
}
