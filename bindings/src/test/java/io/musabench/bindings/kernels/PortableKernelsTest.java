package io.musabench.bindings.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class PortableKernelsTest {
  private static final Path SOURCES = Path.of("../native/kernels/exports");
  private static final Pattern EXPORT = Pattern.compile("(?m)^MUSABENCH_EXPORT\\((\\w+),");

  @Test
  void shouldListEveryExport() throws IOException {
    List<String> exports = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(SOURCES, "*.cc")) {
      for (Path file : files) {
        EXPORT
            .matcher(Files.readString(file))
            .results()
            .map(found -> found.group(1))
            .forEach(exports::add);
      }
    }
    assertThat(PortableKernels.EXPORTS).containsExactlyInAnyOrderElementsOf(exports);
  }
}
