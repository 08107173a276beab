package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What scripts/musabench says before there is a JVM, and how it starts one. */
class StartScriptTest {
  private static final Path SCRIPT =
      Path.of(System.getProperty("user.dir")).toAbsolutePath().resolveSibling("scripts/musabench");

  @TempDir private Path folder;
  private Path script;
  private int status;

  /** A checkout with the script and something in the place of the jar. */
  @BeforeEach
  void makeCheckout() throws Exception {
    Path checkout = folder.resolve("my 仓库");
    script = checkout.resolve("scripts/musabench");
    Files.createDirectories(script.getParent());
    Files.createDirectories(checkout.resolve("jmh/target"));
    Files.copy(SCRIPT, script);
    Files.writeString(checkout.resolve("jmh/target/musabench.jar"), "");
  }

  private String run(Map<String, String> environment) throws Exception {
    List<String> command = new ArrayList<>(List.of("/bin/sh", script.toString(), "a b"));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().keySet().removeAll(List.of("JAVA_HOME", "LC_ALL", "LANG", "LC_CTYPE"));
    builder.environment().putAll(environment);
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    status = process.waitFor();
    return output;
  }

  /** A Java that says in which locale and with which arguments it was started. */
  private Path java(String release) throws Exception {
    Path home = Files.createDirectories(folder.resolve("some jdk"));
    Path java = Files.createDirectories(home.resolve("bin")).resolve("java");
    Files.writeString(
        java, "#!/bin/sh\necho \"LC_ALL=${LC_ALL:-}\"\nfor a; do echo \"$a\"; done\n");
    assertThat(java.toFile().setExecutable(true)).isTrue();
    Files.writeString(home.resolve("release"), release);
    return home;
  }

  @Test
  void shouldSayWhereItLookedForJava() throws Exception {
    String said = run(Map.of("JAVA_HOME", "/nowhere"));
    assertThat(status).isEqualTo(ExitCode.NO_TARGET);
    assertThat(said.lines()).hasSize(1);
    assertThat(said).startsWith("musabench: JAVA_HOME is /nowhere, where there is no bin/java");

    Path tools = Files.createDirectory(folder.resolve("tools"));
    for (String tool : List.of("readlink", "dirname", "sed")) {
      Path found =
          Arrays.stream(System.getenv("PATH").split(":"))
              .map(place -> Path.of(place, tool))
              .filter(Files::isExecutable)
              .findFirst()
              .orElseThrow();
      Files.writeString(tools.resolve(tool), "#!/bin/sh\nexec " + found + " \"$@\"\n");
      assertThat(tools.resolve(tool).toFile().setExecutable(true)).isTrue();
    }
    said = run(Map.of("PATH", tools.toString()));
    assertThat(status).isEqualTo(ExitCode.NO_TARGET);
    assertThat(said.lines()).hasSize(1);
    assertThat(said).startsWith("musabench: no java is on the PATH");
  }

  @Test
  void shouldRefuseAnOldJava() throws Exception {
    for (String version : List.of("11.0.28", "1.8.0_462")) {
      String said = run(Map.of("JAVA_HOME", java("JAVA_VERSION=\"" + version + "\"\n").toString()));
      assertThat(status).as(said).isEqualTo(ExitCode.NO_TARGET);
      assertThat(said.lines()).hasSize(1);
      assertThat(said).contains(version.startsWith("11") ? "of version 11;" : "of version 8;");
    }
  }

  @Test
  void shouldStartJavaInALocaleThatHasAnEncoding() throws Exception {
    String home = java("JAVA_VERSION=\"17.0.15\"\n").toString();
    for (String locale : List.of("", "C", "POSIX", "zh_CN.that-nobody-installed")) {
      String said = run(Map.of("JAVA_HOME", home, "LC_ALL", locale));
      assertThat(status).as(said).isZero();
      assertThat(said)
          .startsWith("LC_ALL=C.UTF-8\n-Dmusabench.home=")
          .contains("/my 仓库\n", "/my 仓库/jmh/target/musabench.jar\n")
          .endsWith("\na b\n");
    }
    assertThat(run(Map.of("JAVA_HOME", home, "LC_CTYPE", "C.UTF-8"))).startsWith("LC_ALL=\n");
  }
}
