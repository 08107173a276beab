package io.musabench.bindings.mate;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.load.PythonPackages;
import io.musabench.bindings.mate.FmhaConfig.Keys;
import io.musabench.bindings.mate.FmhaConfig.Queries;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against trees of the shape of real installations; their kernels are empty files. */
class MateInstallationTest {
  @TempDir Path root;
  private final Map<String, String> environment = new HashMap<>();
  private Path site;

  @BeforeEach
  void layOut() throws IOException {
    site = root.resolve("venv/lib/python3.10/site-packages");
    environment.put("HOME", root.resolve("home").toString());
    environment.put("VIRTUAL_ENV", root.resolve("venv").toString());
  }

  private void install(String version) throws IOException {
    create(site.resolve("mate/__init__.py"), "");
    create(
        site.resolve("mate-" + version + ".dist-info/METADATA"),
        "Metadata-Version: 2.1\nName: mate\nVersion: " + version + "\n");
  }

  private static Path create(Path file, String content) throws IOException {
    Files.createDirectories(file.getParent());
    return Files.writeString(file, content);
  }

  private static Path kernel(Path folder, String name) throws IOException {
    return create(folder.resolve(name).resolve(name + ".so"), "");
  }

  private MateInstallation find() {
    return MateInstallation.find("", environment);
  }

  @ParameterizedTest
  @CsvSource({"2,2", "2,1", "1,1", "3,0"})
  void shouldSayThatMateDoesNotRunOnOlderDevices(int major, int minor) {
    assertThat(Mate.reasonAgainst("device 0 (MTT S4000)", major, minor))
        .isEqualTo(
            "mate's kernels need mp_31, and device 0 (MTT S4000) is mp_" + major + "" + minor);
  }

  @ParameterizedTest
  @CsvSource({"3,1", "3,2", "4,0", "0,0"})
  void shouldRunOnTheOthersAndOnOneThatDoesNotSay(int major, int minor) {
    assertThat(Mate.reasonAgainst("device 0", major, minor)).isEmpty();
  }

  @Test
  void shouldLookAheadOfTimeFirstAndThenInTheCache() throws IOException {
    install("0.2.2");
    Path aot = site.resolve("mate/data/aot");
    Path cache = root.resolve("home/.cache/mate/0.2.2/mp31/cached_ops");
    kernel(cache, "both");
    Path cached = kernel(cache, "cached");
    Path ahead = kernel(aot, "both");
    MateInstallation found = find();
    assertThat(found.version()).isEqualTo("0.2.2");
    assertThat(found.folders()).containsExactly(aot, cache);
    assertThat(found.file("both")).contains(ahead);
    assertThat(found.file("cached")).contains(cached);
    assertThat(found.file("neither")).isEmpty();
    assertThat(MateInstallation.count(cache)).isEqualTo(2);
  }

  @Test
  void shouldCountKernelsByKind() throws IOException {
    Path aot = site.resolve("mate/data/aot");
    for (String name :
        new String[] {
          "flash_attention_ops", "fmha_fwd_ab", "fmha_fwd_cd", "fmha_fwd_combine_bf16", "sage"
        }) {
      kernel(aot, name);
    }
    Files.createDirectories(aot.resolve("fmha_fwd_unfinished"));
    assertThat(MateInstallation.kinds(aot))
        .containsEntry("flash_attention_ops", 1)
        .containsEntry("fmha_fwd", 2)
        .containsEntry("fmha_fwd_combine", 1)
        .containsEntry("fmha_get_metadata", 0)
        .containsEntry("others", 1);
    assertThat(MateInstallation.buildCommand()).contains("python -m mate.aot");
  }

  @Test
  void shouldPutTheCacheBelowTheWorkspaceBaseAndTheBaseVersion() throws IOException {
    install("0.2.7.post1+musa.1");
    environment.put("MATE_WORKSPACE_BASE", root.resolve("work").toString());
    assertThat(find().folders())
        .containsExactly(
            site.resolve("mate/data/aot"), root.resolve("work/.cache/mate/0.2.7/mp31/cached_ops"));
  }

  @Test
  void shouldTakeTheVersionThatTheBuildNotes() throws IOException {
    install("0.2.1");
    create(site.resolve("mate/_build_meta.py"), "__version__ = \"0.2.2\"\n");
    assertThat(find().version()).isEqualTo("0.2.2");
  }

  @Test
  void shouldLeaveTheCacheOutWhereMateDoes() throws IOException {
    install("0.2.2");
    environment.put("MATE_DISABLE_JIT", "1");
    MateInstallation found = find();
    assertThat(found.folders()).containsExactly(site.resolve("mate/data/aot"));
    assertThat(found.notes()).anyMatch(note -> note.contains("MATE_DISABLE_JIT=1"));
  }

  @Test
  void shouldUseACacheWithoutAPackage() throws IOException {
    Path old = root.resolve("home/.cache/mate/0.2.1/mp31/cached_ops");
    Path fresh = root.resolve("home/.cache/mate/0.2.2/mp31/cached_ops");
    kernel(old, "both");
    Path expected = kernel(fresh, "both");
    MateInstallation found = find();
    assertThat(found.folders()).containsExactly(fresh, old);
    assertThat(found.file("both")).contains(expected);
    assertThat(found.version()).isEqualTo("unknown");
  }

  @Test
  void shouldUseOnlyTheFoldersThatAreNamed() throws IOException {
    install("0.2.2");
    kernel(site.resolve("mate/data/aot"), "installed");
    Path named = kernel(root.resolve("ops"), "named");
    MateInstallation found =
        MateInstallation.find(root.resolve("ops") + ":" + root.resolve("more"), environment);
    assertThat(found.folders()).containsExactly(root.resolve("ops"), root.resolve("more"));
    assertThat(found.file("named")).contains(named);
    assertThat(found.file("installed")).isEmpty();
  }

  @Test
  void shouldFindThePackageOfThePythonOnThePath() throws IOException {
    environment.remove("VIRTUAL_ENV");
    Path python = create(root.resolve("venv/bin/python3"), "");
    assertThat(python.toFile().setExecutable(true)).isTrue();
    environment.put("PATH", root.resolve("none") + ":" + python.getParent());
    install("0.2.2");
    assertThat(find().packageFolder()).contains(site.resolve("mate"));
  }

  @Test
  void shouldPreferThePythonPath() throws IOException {
    install("0.2.2");
    Path other = root.resolve("checkout");
    create(other.resolve("mate/__init__.py"), "");
    environment.put("PYTHONPATH", other.toString());
    MateInstallation found = find();
    assertThat(found.packageFolder()).contains(other.resolve("mate"));
    assertThat(found.version()).isEqualTo("unknown");
  }

  @Test
  void shouldFindFilesOfOtherPackages() throws IOException {
    Path library = create(site.resolve("tvm_ffi/lib/libtvm_ffi.so"), "");
    assertThat(new PythonPackages(environment).find("tvm_ffi/lib/libtvm_ffi.so")).contains(library);
  }

  // ---- what a missing kernel's error says

  private static FmhaConfig.Builder decode() {
    return FmhaConfig.builder()
        .heads(32, 8)
        .queries(Queries.RAGGED, 1)
        .pagedKeys(16, 64)
        .causal(true)
        .metadata(true);
  }

  @Test
  void shouldSayWhatWasSearchedAndHowToBuild() throws IOException {
    install("0.2.2");
    kernel(site.resolve("mate/data/aot"), "other");
    FmhaConfig config = decode().build();
    String name = config.names().forward();
    MissingKernelException missing =
        new MissingKernelException(
            name, "there is no such file", find(), BuildCommands.forward(config));
    assertThat(missing.kernel()).isEqualTo(name);
    assertThat(missing)
        .hasMessageContainingAll(
            "mate kernel " + name + ": there is no such file.",
            "mate version: 0.2.2",
            "  " + site.resolve("mate/data/aot") + ": 1 kernels",
            "  " + root.resolve("home/.cache/mate/0.2.2/mp31/cached_ops") + ": no such folder",
            "-Dmusabench.mate.dir",
            "MATE_MUSA_ARCH_LIST=3.1 python -m mate.aot --attention-aot-level 1",
            "gen_fmha_fwd_spec({\"consumers_pv\": 1, ",
            "\"element\": \"mutlass::bfloat16_t\", \"enable_cp\": False, ");
  }

  @Test
  void shouldSayThatAnotherVersionMayNameKernelsOtherwise() throws IOException {
    install("0.2.7");
    assertThat(find().isKnownVersion()).isFalse();
    assertThat(new MissingKernelException("k", "absent", find(), "build"))
        .hasMessageContaining(
            "mate version: 0.2.7; the names and arguments known here are those of");
    create(site.resolve("mate/_build_meta.py"), "__version__ = '0.2.2+musa.1'\n");
    assertThat(find().isKnownVersion()).isTrue();
    assertThat(new MissingKernelException("k", "absent", find(), "build"))
        .hasMessageContaining("mate version: 0.2.2+musa.1\n");
  }

  @Test
  void shouldKnowWhichLevelBuildsAKernel() {
    assertThat(BuildCommands.forwardLevel(decode().build())).isEqualTo(1);
    assertThat(BuildCommands.forwardLevel(decode().pagedKeys(64, 16).build())).isEqualTo(1);
    assertThat(BuildCommands.forwardLevel(decode().softcap(30).build())).isEqualTo(2);
    assertThat(BuildCommands.forwardLevel(decode().window(64, -1).build())).isEqualTo(2);
    assertThat(BuildCommands.forwardLevel(decode().keys(Keys.DENSE, 64).build())).isEqualTo(2);
    assertThat(BuildCommands.forwardLevel(decode().heads(24, 8).build())).isZero();
    assertThat(BuildCommands.forwardLevel(decode().dtype(DType.F16).build())).isZero();
    assertThat(BuildCommands.forwardLevel(decode().headDims(192, 128).build())).isZero();
    assertThat(BuildCommands.forwardLevel(decode().headDims(80, 80).build())).isZero();
    assertThat(BuildCommands.forwardLevel(decode().headDims(64, 64).build())).isZero();
    assertThat(BuildCommands.forwardLevel(decode().queries(Queries.DENSE, 1).build())).isZero();
    assertThat(BuildCommands.metadataLevel(decode().build())).isEqualTo(1);
    assertThat(BuildCommands.metadataLevel(decode().batch(156).build())).isZero();
    assertThat(BuildCommands.metadataLevel(decode().queries(Queries.DENSE, 1).build()))
        .isEqualTo(2);
  }

  @Test
  void shouldGiveTheCommandOfEachGenerator() {
    FmhaConfig config = decode().dtype(DType.F16).heads(24, 8).build();
    assertThat(BuildCommands.forward(config)).contains("no level of python -m mate.aot");
    assertThat(BuildCommands.metadata(config.toBuilder().batch(200).build()))
        .contains("from mate.jit.attention.fmha.fmha_get_metadata import gen_fmha_metadata_spec")
        .contains("\"num_warps\": 7")
        .contains("no level of python -m mate.aot");
    assertThat(BuildCommands.combine(config, 17))
        .contains("from mate.jit.attention.fmha.fmha_combine import gen_fmha_fwd_combine_spec")
        .contains("\"max_splits\": 32")
        .contains("no level of python -m mate.aot");
    assertThat(BuildCommands.combine(decode().build(), 4)).contains("--attention-aot-level 1");
  }
}
