package io.musabench.results.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AtomicFileTest {
  @TempDir private Path folder;

  private Stream<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(p -> p.getFileName().toString()).toList().stream();
    }
  }

  @Test
  void writesAndReplacesAFileAndLeavesNothingElse() throws IOException {
    Path file = folder.resolve("a.txt");
    byte[] large = new byte[3_000_000];
    new Random(1).nextBytes(large);
    AtomicFile.write(file, "old".getBytes());
    AtomicFile.write(file, large);
    assertThat(file).hasBinaryContent(large);
    assertThat(names()).containsExactly("a.txt");
  }

  @Test
  void aFullDiskIsOneClearErrorAndKeepsTheOldFile() throws IOException {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.exists(full), "skipped: this system has no /dev/full");
    Path file = Files.writeString(folder.resolve("a.txt"), "old");
    AtomicFile.Opener opener =
        path -> {
          Files.createFile(path);
          return FileChannel.open(full, StandardOpenOption.WRITE);
        };
    assertThatThrownBy(() -> AtomicFile.write(file, "new".getBytes(), opener))
        .isInstanceOf(RunException.class)
        .hasMessage("Cannot write " + file + ": No space left on device");
    assertThat(file).hasContent("old");
    assertThat(names()).containsExactly("a.txt");
  }

  @Test
  void aFullDiskLeavesNoNewFile() throws IOException {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.exists(full), "skipped: this system has no /dev/full");
    assertThatThrownBy(
            () ->
                AtomicFile.write(
                    folder.resolve("b.txt"),
                    "new".getBytes(),
                    path -> FileChannel.open(full, StandardOpenOption.WRITE)))
        .isInstanceOf(RunException.class);
    assertThat(names()).isEmpty();
  }

  @Test
  void aFolderThatIsGoneIsSaid() {
    Path file = folder.resolve("none/a.txt");
    assertThatThrownBy(() -> AtomicFile.write(file, new byte[1]))
        .isInstanceOf(RunException.class)
        .hasMessage("Cannot write " + file + ": its folder is gone");
  }

  @Test
  void aFolderInTheWayIsAnErrorAndIsKept() throws IOException {
    Path file = folder.resolve("a.txt");
    Files.createDirectories(file.resolve("inside"));
    assertThatThrownBy(() -> AtomicFile.write(file, new byte[1]))
        .isInstanceOf(RunException.class)
        .hasMessageStartingWith("Cannot write " + file);
    assertThat(names()).containsExactly("a.txt");
  }

  @Test
  void aLinkIsReplaced() throws IOException {
    Path link = folder.resolve("latest");
    AtomicFile.link(link, Path.of("one"));
    AtomicFile.link(link, Path.of("two"));
    assertThat(Files.readSymbolicLink(link)).isEqualTo(Path.of("two"));
    assertThat(names()).containsExactly("latest");
  }

  @Test
  void aLinkThatCannotBeMadeIsSaid() {
    Path link = folder.resolve("none/latest");
    assertThatThrownBy(() -> AtomicFile.link(link, Path.of("one")))
        .isInstanceOf(RunException.class)
        .hasMessage("Cannot write " + link + ": its folder is gone");
  }
}
