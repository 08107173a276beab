package io.musabench.results.report.html;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Map;
import java.util.Properties;

/**
 * Puts template, style, scripts and data together. The page's content security policy allows these
 * very scripts and styles by their hashes and nothing else: no request can leave the page, and text
 * that found a way into the markup would not run.
 */
final class Page {
  private static final String WEBJAR = "/META-INF/maven/org.webjars.npm/uplot/pom.properties";
  private static final ObjectMapper JSON = new ObjectMapper();

  private Page() {}

  /**
   * The file.
   *
   * @param title of the browser's window
   */
  static String html(String title, JsonNode data, JsonNode samples) {
    String library = webjar("dist/uPlot.iife.min.js");
    String scripts = "\n" + resource("charts.js") + resource("report.js");
    String style = "\n" + webjar("dist/uPlot.min.css") + "\n" + resource("report.css");
    return fill(
        resource("report.html"),
        Map.of(
            "POLICY",
            "default-src 'none'; script-src "
                + hash(library)
                + " "
                + hash(scripts)
                + "; style-src "
                + hash(style)
                + "; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script';"
                + " trusted-types 'none'",
            "TITLE",
            escape(title),
            "LICENCE",
            escape(webjar("LICENSE")),
            "STYLE",
            style,
            "DATA",
            json(data),
            "SAMPLES",
            json(samples),
            "TEXTS",
            json(texts(data)),
            "LIBRARY",
            library,
            "SCRIPTS",
            scripts));
  }

  /** The page's texts with the sentences that its data uses. */
  private static JsonNode texts(JsonNode data) {
    ObjectNode texts = (ObjectNode) texts();
    Sentences.addUsed(texts, data);
    return texts;
  }

  /** Every text of the page itself by language and key. */
  static JsonNode texts() {
    try {
      return JSON.readTree(resource("texts.json"));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("texts.json of this build is damaged", e);
    }
  }

  /** Replaces every {@code @NAME@} once, so that no value can hold the place of another. */
  private static String fill(String template, Map<String, String> values) {
    StringBuilder page = new StringBuilder();
    int from = 0;
    for (int at = template.indexOf('@'); at >= 0; at = template.indexOf('@', from)) {
      int end = template.indexOf('@', at + 1);
      page.append(template, from, at).append(values.get(template.substring(at + 1, end)));
      from = end + 1;
    }
    return page.append(template.substring(from)).toString();
  }

  /**
   * JSON that cannot end the element it stands in: of all characters only {@code <} begins markup
   * there, and JSON holds it in strings alone, where it may be written as an escape.
   */
  static String json(JsonNode node) {
    try {
      return JSON.writeValueAsString(node).replace("<", "\\u003c");
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("A tree of plain values can always be written", e);
    }
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  private static String hash(String content) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8));
      return "'sha256-" + Base64.getEncoder().encodeToString(digest) + "'";
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every Java has SHA-256", e);
    }
  }

  /** A file of the charting library, whose version the build pins and its own jar tells. */
  private static String webjar(String file) {
    Properties properties = new Properties();
    try {
      properties.load(new StringReader(read(WEBJAR)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    String version = properties.getProperty("version");
    return read("/META-INF/resources/webjars/uplot/" + version + "/" + file).strip();
  }

  static String resource(String name) {
    return read(name);
  }

  private static String read(String name) {
    try (InputStream in = Page.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException(name + " is missing from this build");
      }
      // Line ends as the browser hashes them.
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read " + name, e);
    }
  }
}
