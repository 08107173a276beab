package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.bindings.Target;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.RunDirectory;
import io.musabench.results.run.Status;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What nobody should ask for, and what an operating system may do: one line, the right code. */
class HostileUseTest {
  private static final String CASE = "^elementwise.RmsNorm$";

  @TempDir private Path folder;

  @BeforeAll
  static void requireNativeLibraries() {
    MusabenchProcess.requireNativeLibraries();
  }

  private MusabenchProcess run(Map<String, String> properties, String... arguments)
      throws IOException {
    return run(Map.of(), properties, arguments);
  }

  private MusabenchProcess run(
      Map<String, String> environment, Map<String, String> properties, String... arguments)
      throws IOException {
    List<String> all =
        Stream.concat(
                Stream.of("run", "--no-roofs", "--output=" + folder.resolve("runs")),
                Stream.of(arguments))
            .toList();
    return MusabenchProcess.start(folder, environment, properties, all.toArray(String[]::new));
  }

  private static void oneLine(MusabenchProcess process, int code, String said) throws Exception {
    assertThat(process.exitCode()).as(process.text()).isEqualTo(code);
    assertThat(process.text().lines()).as(process.text()).hasSize(1);
    assertThat(process.text()).startsWith("musabench: ").contains(said);
  }

  @Test
  void shouldTakeAPropertyThatMakesNoSenseForUsage() throws Exception {
    oneLine(run(Map.of("musabench.target", "hots"), CASE), ExitCode.USAGE, "did you mean host?");
  }

  @Test
  void shouldSayWhatToLookAtWhereTheRuntimeFindsNoDevice() throws Exception {
    String runtime = Target.nativeFolder().orElseThrow().resolve("libmusart_host.so").toString();
    MusabenchProcess process =
        MusabenchProcess.start(
            folder,
            Map.of("MUSART_HOST_FAULTS", "musaGetDeviceCount:1+=100"),
            Map.of("musabench.target", "musa", "musabench.runtime.library", runtime),
            "run",
            "--output=" + folder.resolve("runs"),
            CASE);
    assertThat(process.exitCode()).as(process.text()).isEqualTo(ExitCode.NO_TARGET);
    assertThat(process.text())
        .startsWith("musabench: target musa: musaGetDeviceCount failed: 100 ")
        .contains("\nmthreads-gmi must list the device")
        .doesNotContain("\tat ");
  }

  @Test
  void shouldRefuseSessionsThatTheTimeLimitWouldKill() throws Exception {
    oneLine(run(Map.of(), CASE, "--seconds=1e7"), ExitCode.USAGE, "do not fit into --time-limit");
  }

  @Test
  void shouldSayInOneLineThatAnExpressionIsNone() throws Exception {
    MusabenchProcess process = MusabenchProcess.start(folder, Map.of(), "selftest", "*[");
    oneLine(process, ExitCode.USAGE, "\"*[\" is not a regular expression");
  }

  @Test
  void shouldNotTakeOutputThatIsLostForDone() throws Exception {
    // Where the process writes what it prints; it is not read here, for there is no end of it.
    Files.createSymbolicLink(folder.resolve("output.txt"), Path.of("/dev/full"));
    MusabenchProcess list = MusabenchProcess.start(folder, Map.of(), "list");
    assertThat(list.exitCode()).isEqualTo(ExitCode.CANNOT_WRITE);
  }

  @Test
  void shouldNameTheFolderOfTemporaryFilesThatIsNotThere() throws Exception {
    String nowhere = folder.resolve("nowhere").toString();
    oneLine(
        run(Map.of("java.io.tmpdir", nowhere), CASE),
        ExitCode.CANNOT_WRITE,
        "Cannot write temporary files in " + nowhere);
  }

  @ParameterizedTest
  @ValueSource(strings = {"run", "doctor", "selftest"})
  void shouldSayWhereJnaCouldNotUnpackItself(String command) throws Exception {
    String file = Files.writeString(folder.resolve("file"), "").toString();
    Map<String, String> properties = Map.of("jna.tmpdir", file, "jna.nosys", "true");
    MusabenchProcess process =
        command.equals("run")
            ? run(properties, CASE)
            : MusabenchProcess.start(folder, Map.of(), properties, command);
    assertThat(process.exitCode()).as(process.text()).isEqualTo(ExitCode.NO_TARGET);
    assertThat(process.text())
        .contains("JNA, which calls all libraries, does not start", "-Djna.tmpdir=FOLDER")
        .doesNotContain("\tat ");
  }

  @Test
  void shouldFailOnlyTheCasesForWhichThereWasNoPlaceForTemporaryFiles() throws Exception {
    Path temporary = Files.createDirectory(folder.resolve("tmp"));
    MusabenchProcess process =
        run(
            Map.of("MUSART_HOST_FAULTS", "kernel:argmax:1=hang"),
            Map.of("java.io.tmpdir", temporary.toString()),
            CASE,
            "^elementwise.SiluAndMul$",
            "^elementwise.Sampler$",
            "--iterations=1",
            "--seconds=0.02");
    process.awaitOutput("[1/3]");
    // While the second hangs nobody makes or removes a file; after that it ends.
    Path latest = folder.resolve("runs").resolve(RunDirectory.LATEST);
    process.awaitText(latest.resolve("jmh.log"), " hangs, by MUSART_HOST_FAULTS");
    try (Stream<Path> files = Files.walk(temporary)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    assertThat(process.exitCode()).as(process.text()).isEqualTo(ExitCode.CASE_FAILED);
    assertThat(process.text()).doesNotContain("\tat ").contains("[3/3]", "FAILED");
    List<CaseResult> cases = RunDirectory.open(latest).read().cases();
    assertThat(cases).hasSize(3);
    assertThat(cases.get(0).ok()).isTrue();
    assertThat(cases.get(2).status()).isEqualTo(Status.FAILED);
    assertThat(cases.get(2).reason()).contains("No such file or directory");
  }
}
