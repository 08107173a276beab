package io.musabench.results.serving;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Files to read: written on the spot, or the shared real ones. */
final class Fixtures {
  /** The limits that most cases use. */
  static final Slo SLO = Slo.of(500, 50);

  private Fixtures() {}

  /** A shared real file, or the test is skipped: they are not part of the project. */
  static Path shared(String name) {
    Path relative = Path.of("shared", "data", "serving", name);
    for (Path p = Path.of("").toAbsolutePath(); p != null; p = p.getParent()) {
      Path candidate = p.resolve(relative);
      if (Files.exists(candidate)) {
        return candidate;
      }
    }
    assumeTrue(false, "skipped: no shared data set (" + relative + " in no folder above)");
    throw new AssertionError();
  }

  static Path write(String content) {
    try {
      Path file = Files.createTempFile("serving", ".json");
      file.toFile().deleteOnExit();
      return Files.writeString(file, content);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  static List<Run> read(String content) {
    return read(write(content));
  }

  static List<Run> read(Path file) {
    try {
      return ServingFiles.read(file, null);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }

  static Summary analyse(String content) {
    return analyse(content, Definitions.COURSE, SLO);
  }

  static Summary analyse(String content, Definitions definitions, Slo slo) {
    return analyse(read(content), definitions, slo).get(0);
  }

  static List<Summary> analyse(List<Run> runs, Definitions definitions, Slo slo) {
    return new Analysis(definitions, slo, Map.of()).of(runs);
  }

  /** Our own request log with one event list; times in ms, {@code kind} by first letter. */
  static String own(String fields) {
    return "{\"schema\":\"musabench.request/1\"," + fields + "}\n";
  }

  /** A raw GenAI-Perf file; each response is {ms since start, data of the event}. */
  static String genAiPerf(int maxTokens, Object[]... responses) {
    StringBuilder times = new StringBuilder();
    StringBuilder outputs = new StringBuilder();
    for (Object[] r : responses) {
      String comma = times.isEmpty() ? "" : ",";
      long ns = 1_000_000_000L + Math.round(((Number) r[0]).doubleValue() * 1e6);
      times.append(comma).append(ns);
      String text = (r[1].toString().startsWith("event:") ? "" : "data: ") + r[1] + "\n\n";
      outputs.append(comma).append("{\"response\":").append(quote(text)).append("}");
    }
    String payload = "{\"stream\":true,\"max_tokens\":" + maxTokens + ",\"messages\":[]}";
    return "{\"experiments\":[{\"experiment\":{\"mode\":\"concurrency\",\"value\":1},\"requests\":["
        + "{\"timestamp\":1000000000,\"request_inputs\":{\"payload\":"
        + quote(payload)
        + "},\"response_timestamps\":["
        + times
        + "],\"response_outputs\":["
        + outputs
        + "]}]}],\"version\":\"1\",\"service_kind\":\"openai\","
        + "\"endpoint\":\"v1/chat/completions\"}";
  }

  static String quote(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"";
  }

  static String delta(String content) {
    return "{\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":"
        + content
        + "}]}";
  }

  static String content(String text) {
    return delta("{\"content\":\"" + text + "\"}");
  }

  static String role() {
    return delta("{\"role\":\"assistant\",\"content\":\"\"}");
  }

  static String finish() {
    return "{\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},"
        + "\"finish_reason\":\"stop\"}]}";
  }

  static boolean has(Summary s, String finding) {
    return s.audit().stream().anyMatch(f -> f.id().equals(finding));
  }

  static Finding finding(Summary s, String id) {
    return s.audit().stream().filter(f -> f.id().equals(id)).findFirst().orElseThrow();
  }

  static Check check(Summary s, String id) {
    return s.checklist().stream().filter(c -> c.id().equals(id)).findFirst().orElseThrow();
  }
}
