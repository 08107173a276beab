package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.results.run.Versions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Against a Python environment and tools of the shapes that real ones have. */
class SoftwareVersionsTest {
  private static final String COMMIT = "0123456789abcdef0123456789abcdef01234567";

  @TempDir private Path root;
  private Path site;
  private final Map<String, String> environment = new HashMap<>();

  @BeforeEach
  void layOut() throws IOException {
    site = Files.createDirectories(root.resolve("venv/lib/python3.10/site-packages"));
    Files.createDirectories(root.resolve("bin"));
    environment.put("VIRTUAL_ENV", root.resolve("venv").toString());
    environment.put("PATH", root.resolve("bin").toString());
  }

  private Map<String, String> find() {
    return SoftwareVersions.find(environment);
  }

  private Path install(String name, String version) throws IOException {
    Path info = Files.createDirectories(site.resolve(name + "-" + version + ".dist-info"));
    write(info.resolve("METADATA"), "Metadata-Version: 2.1\nVersion: " + version + "\n");
    return info;
  }

  private void tool(String name, String script) throws IOException {
    Path file = root.resolve("bin").resolve(name);
    write(file, "#!/bin/sh\n" + script);
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  private static void write(Path file, String content) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, content);
  }

  @Test
  void readsReleasesAndTheCommitFromTheMetadataOnDisk() throws IOException {
    install("torch_musa", "2.9.0");
    install("mate", "0.2.2");
    write(
        install("vllm_musa", "0.1.0").resolve("direct_url.json"),
        "{\"url\": \"https://example.org/x\", \"vcs_info\": {\"vcs\": \"git\", \"commit_id\": \""
            + COMMIT
            + "\"}}");
    assertThat(find())
        .containsEntry(Versions.TORCH_MUSA, "2.9.0")
        .containsEntry(Versions.MATE, "0.2.2")
        .containsEntry(Versions.VLLM_MUSA, "0.1.0")
        .containsEntry(Versions.VLLM_MUSA_COMMIT, COMMIT)
        .doesNotContainKeys(Versions.MUSA_SDK, Versions.DRIVER);
  }

  @Test
  void readsTheCommitOfTheCheckoutThatAnEditableInstallationPointsTo() throws IOException {
    Path checkout = root.resolve("work/vllm musa");
    write(checkout.resolve(".git/HEAD"), "ref: refs/heads/master\n");
    write(
        checkout.resolve(".git/packed-refs"),
        "# pack-refs with: peeled\n" + COMMIT + " refs/heads/master\n");
    write(
        install("vllm_musa", "0.1.0").resolve("direct_url.json"),
        "{\"dir_info\": {\"editable\": true}, \"url\": \"" + checkout.toUri() + "\"}");
    assertThat(find()).containsEntry(Versions.VLLM_MUSA_COMMIT, COMMIT);

    write(checkout.resolve(".git/refs/heads/master"), "f" + COMMIT.substring(1) + "\n");
    assertThat(find()).containsEntry(Versions.VLLM_MUSA_COMMIT, "f" + COMMIT.substring(1));

    write(checkout.resolve(".git/HEAD"), COMMIT + "\n");
    assertThat(find()).containsEntry(Versions.VLLM_MUSA_COMMIT, COMMIT);
  }

  @Test
  void readsTheCommitOfTheVersionWhereNothingElseTellsIt() throws IOException {
    install("vllm_musa", "0.1.dev10+g1a9e569.d20260601");
    assertThat(find()).containsEntry(Versions.VLLM_MUSA_COMMIT, "1a9e569");
  }

  @Test
  void leavesOutWhatDamagedMetadataDoNotTell() throws IOException {
    write(install("vllm_musa", "0.1.0").resolve("direct_url.json"), "{not json");
    write(site.resolve("torch_musa-2.9.0.dist-info/METADATA"), "Name: torch_musa\n");
    assertThat(find())
        .containsEntry(Versions.VLLM_MUSA, "0.1.0")
        .doesNotContainKeys(Versions.VLLM_MUSA_COMMIT, Versions.TORCH_MUSA);
  }

  @Test
  void readsEggsToo() throws IOException {
    write(site.resolve("torch_musa-2.0.1-py3.10.egg-info/PKG-INFO"), "Version: 2.0.1\n");
    write(site.resolve("mate-0.1.3.egg-info"), "Metadata-Version: 2.1\nVersion: 0.1.3\n");
    assertThat(find())
        .containsEntry(Versions.TORCH_MUSA, "2.0.1")
        .containsEntry(Versions.MATE, "0.1.3");
  }

  @Test
  void asksTheVendorsToolsInEitherOfTheirForms() throws IOException {
    tool(
        "musa_version_query",
        "echo '{\"musa_toolkits\": {\"git branch\": \"release\", \"version\": \"5.1.0\"},'\n"
            + "echo '\"mcc\": {\"version\": \"4.3.5\"}}'\n");
    tool("mthreads-gmi", "echo '| mthreads-gmi:1.14.0      Driver Version:3.3.5-server |'\n");
    assertThat(find())
        .containsEntry(Versions.MUSA_SDK, "5.1.0")
        .containsEntry(Versions.DRIVER, "3.3.5-server");

    tool("musa_version_query", "echo 'musa_toolkits version: 3.1.0'\n");
    tool("musaInfo", "echo 'Driver version: 2.7.0'\n");
    assertThat(find())
        .containsEntry(Versions.MUSA_SDK, "3.1.0")
        .containsEntry(Versions.DRIVER, "2.7.0");
  }

  @Test
  void doesWithoutAToolThatFails() throws IOException {
    tool("musa_version_query", "echo 'musa_toolkits version: 3.1.0'; exit 1\n");
    tool("mthreads-gmi", "exec /no/such/program\n");
    assertThat(find()).isEmpty();
  }

  @Test
  void printsOneLineWithWhatIsUnknown() {
    assertThat(Versions.line(Map.of()))
        .isEqualTo(
            "MUSA SDK unknown, driver unknown, torch_musa unknown, vllm-musa unknown,"
                + " mate unknown, GPU unknown");
    assertThat(
            Versions.line(
                Map.of(
                    Versions.MUSA_SDK, "5.1.0",
                    Versions.VLLM_MUSA, "0.1.0",
                    Versions.VLLM_MUSA_COMMIT, COMMIT,
                    Versions.GPU_MODEL, "MTT S5000")))
        .startsWith("MUSA SDK 5.1.0, driver unknown")
        .contains("vllm-musa 0.1.0 commit 0123456789ab,")
        .endsWith("GPU MTT S5000");
  }
}
