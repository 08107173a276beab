package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What scripts/container would start, where docker is a stand-in. */
class ContainerScriptTest {
  private static final Path SCRIPT =
      Path.of(System.getProperty("user.dir")).toAbsolutePath().resolveSibling("scripts/container");

  @TempDir private Path folder;
  private int status;

  /** Standard output and standard error. */
  private String run(String runtimes, String... arguments) throws Exception {
    Path docker = folder.resolve("docker");
    Files.writeString(docker, "#!/bin/sh\necho ' Runtimes: runc " + runtimes + "'\n");
    assertThat(docker.toFile().setExecutable(true)).isTrue();
    List<String> command = new ArrayList<>(List.of("sh", SCRIPT.toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("PATH", folder + ":" + System.getenv("PATH"));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().remove("MUSABENCH_IMAGE");
    Process process = builder.start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    status = process.waitFor();
    return output;
  }

  @Test
  void mountsTheCheckoutAndTheJdkAndBuildsInTheContainer() throws Exception {
    String root = SCRIPT.getParent().getParent().toRealPath().toString();
    String command = run("mthreads", "--dry-run", "--image", "some/image:tag");
    assertThat(status).as(command).isZero();
    assertThat(command)
        .startsWith("docker run ")
        .contains("--runtime mthreads -e MTHREADS_VISIBLE_DEVICES=all")
        .contains("-v " + root + ":" + root)
        .contains(":/opt/jdk:ro")
        .contains("MUSABENCH_NATIVE_DIR=" + root + "/native/target/container/lib")
        .contains(" some/image:tag sh -c ")
        .contains("native/build.sh")
        .endsWith("scripts/musabench doctor \n");
  }

  @Test
  void handsCardsInOneByOneWhereThereIsNoToolkit() throws Exception {
    String command =
        run(
            "",
            "--dry-run",
            "--image",
            "some/image:tag",
            "--devices",
            "0,3",
            "--",
            "scripts/musabench",
            "run",
            "it's");
    assertThat(status).as(command).isZero();
    assertThat(command)
        .contains("-e MUSA_VISIBLE_DEVICES=0,3")
        .doesNotContain("--runtime")
        .contains("scripts/musabench run 'it'\\''s'");
    if (!Files.exists(Path.of("/dev/mtgpu0"))) {
      assertThat(command).contains("there is no card here");
    }
  }

  @Test
  void asksForTheImage() throws Exception {
    String text = run("", "--dry-run");
    assertThat(status).as(text).isEqualTo(ExitCode.USAGE);
    assertThat(text).contains("--image", "MUSABENCH_IMAGE", "docs/on-a-gpu.md");
  }

  @Test
  void refusesWhatItDoesNotUnderstand() throws Exception {
    for (String[] wrong :
        List.of(
            new String[] {"--devices", "0,"},
            new String[] {"--devices", "x"},
            new String[] {"--nope"},
            new String[] {"--image"},
            new String[] {"--jdk", "/no/such/jdk"},
            new String[] {"--model", "/no/such/model"})) {
      List<String> arguments = new ArrayList<>(List.of("--dry-run", "--image", "some/image:tag"));
      arguments.addAll(List.of(wrong));
      String text = run("", arguments.toArray(String[]::new));
      assertThat(status).as(String.join(" ", wrong) + ": " + text).isEqualTo(ExitCode.USAGE);
    }
  }
}
