package io.musabench.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.bindings.LibrarySearch.Installed;
import io.musabench.bindings.runtime.Vendor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Against trees of the shape of real installations; their libraries are empty files. */
class LibrarySearchTest {
  @TempDir private Path temporary;
  private Path root;
  private final Map<String, String> properties = new HashMap<>();
  private final Map<String, String> environment = new HashMap<>();

  @BeforeEach
  void resolve() throws IOException {
    root = temporary.toRealPath();
  }

  private LibrarySearch search() {
    return new LibrarySearch(properties::get, environment, root);
  }

  /** An installation as the SDK lays it out, with the links of a development package. */
  private Path install(String version, String soname) throws IOException {
    Path lib = Files.createDirectories(root.resolve("usr/local/musa-" + version + "/lib"));
    Path file = Files.createFile(lib.resolve("libmusart.so." + version));
    Files.createSymbolicLink(lib.resolve(soname), file.getFileName());
    Files.createSymbolicLink(lib.resolve("libmusart.so"), Path.of(soname));
    return file;
  }

  private void link(String version) throws IOException {
    Files.createSymbolicLink(root.resolve("usr/local/musa"), Path.of("musa-" + version));
  }

  @Test
  void asksTheLoaderFirstAndThenTheInstallations() throws IOException {
    install("5.1.0", "libmusart.so.5");
    link("5.1.0");
    assertThat(search().runtime(Vendor.MUSA))
        .startsWith(
            "musart",
            "libmusart.so",
            "libmusart.so.5",
            "libmusart.so.4",
            "libmusart.so.1.5",
            "libmusart.so.1.0",
            root + "/usr/local/musa/lib/libmusart.so",
            root + "/usr/local/musa/lib/libmusart.so.5");
    assertThat(search().driver(Vendor.MUSA))
        .startsWith("libmusa.so", "libmusa.so.1")
        .contains(root + "/usr/local/musa/lib/libmusa.so.1");
  }

  @Test
  void triesTheInstallationThatTheEnvironmentNamesBeforeTheUsualOne() throws IOException {
    install("5.1.0", "libmusart.so.5");
    link("5.1.0");
    Path other = Files.createDirectories(root.resolve("opt/musa/lib"));
    environment.put("MUSA_HOME", root.resolve("opt/musa").toString());
    List<String> names = search().runtime(Vendor.MUSA);
    assertThat(names.indexOf(other + "/libmusart.so"))
        .isPositive()
        .isLessThan(names.indexOf(root + "/usr/local/musa/lib/libmusart.so"));
  }

  @Test
  void searchesOnlyWhereAPropertyPoints() throws IOException {
    install("5.1.0", "libmusart.so.5");
    properties.put(Target.MUSA_HOME_PROPERTY, root + "/opt/musa");
    assertThat(search().runtime(Vendor.MUSA))
        .isNotEmpty()
        .allMatch(name -> name.startsWith(root + "/opt/musa/lib"));
    assertThat(search().driver(Vendor.MUSA))
        .isNotEmpty()
        .allMatch(name -> name.startsWith(root + "/opt/musa/lib"));
    properties.put(Target.RUNTIME_PROPERTY, "/x/libmusart.so");
    properties.put(Target.DRIVER_PROPERTY, "/x/libmusa.so");
    assertThat(search().runtime(Vendor.MUSA)).containsExactly("/x/libmusart.so");
    assertThat(search().driver(Vendor.MUSA)).containsExactly("/x/libmusa.so");
  }

  @Test
  void findsEveryVersionOnceWhateverLinksLeadToIt() throws IOException {
    Path five = install("5.1.0", "libmusart.so.5");
    Path four = install("4.3.6", "libmusart.so.4");
    link("5.1.0");
    environment.put("LD_LIBRARY_PATH", root + "/usr/local/musa/lib");
    assertThat(search().installed(Vendor.MUSA))
        .containsExactly(new Installed(five, "5.1.0"), new Installed(four, "4.3.6"));
  }

  @Test
  void findsVersionsBesideTheOneThatTheEnvironmentNames() throws IOException {
    Path lib = Files.createDirectories(root.resolve("opt/musa-4.3.6/lib"));
    Path four = Files.createFile(lib.resolve("libmusart.so.4.3.6"));
    Files.createDirectories(root.resolve("opt/musa-5.1.0/lib"));
    environment.put("MUSA_HOME", root + "/opt/musa-5.1.0");
    assertThat(search().installed(Vendor.MUSA)).containsExactly(new Installed(four, "4.3.6"));
  }

  @Test
  void tellsAVersionByTheLongestNumberOfThePath() {
    assertThat(version("/usr/local/musa-5.1.0/lib/libmusart.so.5")).isEqualTo("5.1.0");
    assertThat(version("/usr/local/musa/lib/libmusart.so.4.3.6")).isEqualTo("4.3.6");
    assertThat(version("/usr/lib/x86_64-linux-gnu/libmusart.so")).isEqualTo("unknown");
  }

  private static String version(String path) {
    return LibrarySearch.version(Path.of(path));
  }

  @Test
  void looksForCudaInItsOwnFolders() throws IOException {
    Files.createDirectories(root.resolve("usr/local/cuda-13.0/lib64"));
    assertThat(search().runtime(Vendor.CUDA))
        .startsWith("libcudart.so", "libcudart.so.13", "libcudart.so.12")
        .contains(root + "/usr/local/cuda-13.0/lib64/libcudart.so.13")
        .noneMatch(name -> name.contains("musa"));
  }
}
