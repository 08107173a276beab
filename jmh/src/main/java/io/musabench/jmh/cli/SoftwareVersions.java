package io.musabench.jmh.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.bindings.load.PythonPackages;
import io.musabench.results.run.Versions;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The versions of what is installed around a GPU: from the metadata of Python packages, read from
 * disk, and from the vendor's tools where they are on the PATH. What is not found is left out.
 */
final class SoftwareVersions {
  private static final long TOOL_LIMIT_SECONDS = 10;

  // musa_version_query prints an entry a component, as JSON or as text.
  private static final Pattern TOOLKIT =
      Pattern.compile("musa_toolkits\\b[^0-9]{0,200}?(\\d+\\.\\d+(?:\\.\\d+)?)");
  private static final Pattern DRIVER =
      Pattern.compile("(?i)\\bdriver\\s+version\\s*:?\\s*(\\d[\\w.+-]*)");
  private static final Pattern VERSION = Pattern.compile("(?m)^Version:\\s*(\\S+)");
  // setuptools-scm puts the commit behind the version: 0.1.dev3+g0123abc.d20260101
  private static final Pattern COMMIT = Pattern.compile("\\+(?:.*\\.)?g([0-9a-f]{7,40})\\b");
  private static final Pattern HASH = Pattern.compile("[0-9a-f]{40}");

  private final Map<String, String> environment;
  private final PythonPackages packages;

  private SoftwareVersions(Map<String, String> environment) {
    this.environment = environment;
    this.packages = new PythonPackages(environment);
  }

  /** What is found in this process's environment, by the names of {@link Versions}. */
  static Map<String, String> find() {
    return find(System.getenv());
  }

  static Map<String, String> find(Map<String, String> environment) {
    SoftwareVersions search = new SoftwareVersions(environment);
    Map<String, String> found = new TreeMap<>();
    put(
        found,
        Versions.MUSA_SDK,
        search.tool("musa_version_query").flatMap(o -> match(TOOLKIT, o)));
    put(
        found,
        Versions.DRIVER,
        search
            .tool("musaInfo")
            .flatMap(output -> match(DRIVER, output))
            .or(() -> search.tool("mthreads-gmi").flatMap(output -> match(DRIVER, output))));
    put(found, Versions.TORCH_MUSA, search.release("torch_musa"));
    put(found, Versions.MATE, search.release("mate"));
    put(found, Versions.VLLM_MUSA, search.release("vllm_musa"));
    put(found, Versions.VLLM_MUSA_COMMIT, search.commit("vllm_musa"));
    put(found, "torch", search.release("torch"));
    put(found, "vllm", search.release("vllm"));
    put(found, "apache_tvm_ffi", search.release("apache_tvm_ffi"));
    return found;
  }

  private static void put(Map<String, String> found, String name, Optional<String> version) {
    version.ifPresent(text -> found.put(name, text));
  }

  private Optional<String> release(String name) {
    return packages
        .metadata(name)
        .flatMap(
            folder ->
                text(folder.resolve("METADATA"))
                    .or(() -> text(folder.resolve("PKG-INFO")))
                    .or(() -> text(folder)))
        .flatMap(metadata -> match(VERSION, metadata));
  }

  /** The commit that a package was installed from. */
  private Optional<String> commit(String name) {
    Optional<Path> metadata = packages.metadata(name);
    Optional<JsonNode> origin =
        metadata.flatMap(folder -> text(folder.resolve("direct_url.json"))).flatMap(this::json);
    Optional<String> recorded =
        origin.map(o -> o.at("/vcs_info/commit_id").asText("")).filter(id -> !id.isEmpty());
    return recorded
        .or(() -> origin.map(o -> o.path("url").asText("")).flatMap(SoftwareVersions::checkedOut))
        .or(() -> release(name).flatMap(version -> match(COMMIT, version)));
  }

  private Optional<JsonNode> json(String content) {
    try {
      return Optional.of(new ObjectMapper().readTree(content));
    } catch (IOException notJson) {
      return Optional.empty();
    }
  }

  /** The commit of the checkout that an editable installation points to. */
  private static Optional<String> checkedOut(String url) {
    if (!url.startsWith("file:")) {
      return Optional.empty();
    }
    Path git;
    try {
      git = Path.of(URI.create(url)).resolve(".git");
    } catch (IllegalArgumentException notAPath) {
      return Optional.empty();
    }
    Optional<String> head = text(git.resolve("HEAD")).map(String::strip);
    if (head.isEmpty() || !head.get().startsWith("ref: ")) {
      return head.filter(id -> HASH.matcher(id).matches());
    }
    String reference = head.get().substring("ref: ".length());
    return text(git.resolve(reference))
        .map(String::strip)
        .or(
            () ->
                text(git.resolve("packed-refs"))
                    .flatMap(
                        refs ->
                            match(
                                Pattern.compile(
                                    "(?m)^([0-9a-f]{40}) " + Pattern.quote(reference) + "$"),
                                refs)));
  }

  private static Optional<String> match(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
  }

  private static Optional<String> text(Path file) {
    try {
      return Optional.of(Files.readString(file));
    } catch (IOException absent) {
      return Optional.empty();
    }
  }

  /** What a tool on the PATH prints; empty if there is none, it fails or takes too long. */
  private Optional<String> tool(String name) {
    for (String folder : environment.getOrDefault("PATH", "").split(File.pathSeparator)) {
      Path file = Path.of(folder.isBlank() ? "." : folder, name);
      if (Files.isExecutable(file) && Files.isRegularFile(file)) {
        return output(file);
      }
    }
    return Optional.empty();
  }

  private Optional<String> output(Path tool) {
    try {
      // A file, not a pipe: reading a pipe would wait for ever for a tool that hangs.
      Path output = Files.createTempFile("musabench-tool", ".out");
      try {
        Process process =
            new ProcessBuilder(tool.toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        process.getOutputStream().close();
        if (!process.waitFor(TOOL_LIMIT_SECONDS, TimeUnit.SECONDS)) {
          process.destroyForcibly();
          return Optional.empty();
        }
        return process.exitValue() == 0 ? text(output) : Optional.empty();
      } finally {
        Files.deleteIfExists(output);
      }
    } catch (IOException unusable) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
