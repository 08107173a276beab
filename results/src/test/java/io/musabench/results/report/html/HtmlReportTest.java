package io.musabench.results.report.html;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.report.MarkdownReport;
import io.musabench.results.serving.Formula;
import io.musabench.results.tpot.Bound;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.Workload;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HtmlReportTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static HtmlReport report;
  private static String html;
  private static JsonNode data;

  @BeforeAll
  static void make(@TempDir Path folder) throws IOException {
    report = new ReportFixture(folder).full();
    html = report.html();
    data = JSON.readTree(element("data"));
  }

  private static String element(String id) {
    Matcher m =
        Pattern.compile("(?s)<script type=\"application/json\" id=\"" + id + "\">(.*?)</script>")
            .matcher(html);
    assertThat(m.find()).isTrue();
    return m.group(1);
  }

  @Test
  void everySectionIsThere() {
    List<String> ids = new ArrayList<>();
    data.get("sections").forEach(s -> ids.add(s.get("id").asText()));
    assertThat(ids)
        .containsExactly(
            "failures",
            "environment",
            "differences",
            "steps",
            "kernels",
            "roofline",
            "launch",
            "samples",
            "tpot",
            "devices",
            "serving",
            "cases");
  }

  @Test
  void everyChartAndTableHasANameOfItsOwn() {
    List<String> ids = new ArrayList<>();
    for (JsonNode section : data.get("sections")) {
      for (JsonNode part : section.get("parts")) {
        String kind = part.has("chart") ? "chart" : "table";
        ids.add(kind + " " + part.get(kind).get("id").asText());
      }
    }
    assertThat(ids).doesNotHaveDuplicates().hasSizeGreaterThan(25);
  }

  @Test
  void nothingOfTheDataIsMarkup() {
    assertThat(html).doesNotContain("<img").doesNotContain("</script><").doesNotContain("<b>");
    assertThat(Pattern.compile("</script>").matcher(html).results().count()).isEqualTo(5);
    assertThat(data.toString()).contains("<img");
  }

  @Test
  void scriptsNeverParseMarkupOrText() {
    for (String file : List.of("charts.js", "report.js")) {
      assertThat(Page.resource(file))
          .doesNotContain("innerHTML")
          .doesNotContain("outerHTML")
          .doesNotContain("insertAdjacentHTML")
          .doesNotContain("document.write")
          .doesNotContain("eval(")
          .doesNotContain("new Function");
    }
    assertThat(html.replaceAll("(?s)<!--.*?-->", ""))
        .doesNotContain("src=\"http")
        .doesNotContain("href=\"http")
        .doesNotContain("@import")
        .doesNotContain("url(");
  }

  @Test
  void thePolicyAllowsTheseScriptsAndNothingElse() throws Exception {
    Matcher policy =
        Pattern.compile("http-equiv=\"Content-Security-Policy\" content=\"([^\"]+)\"")
            .matcher(html);
    assertThat(policy.find()).isTrue();
    String text = policy.group(1);
    assertThat(text).startsWith("default-src 'none'").doesNotContain("unsafe");
    Matcher scripts = Pattern.compile("(?s)<script>(.*?)</script>").matcher(html);
    int count = 0;
    while (scripts.find()) {
      byte[] digest =
          MessageDigest.getInstance("SHA-256")
              .digest(scripts.group(1).getBytes(StandardCharsets.UTF_8));
      assertThat(text).contains("'sha256-" + Base64.getEncoder().encodeToString(digest) + "'");
      count++;
    }
    assertThat(count).isEqualTo(2);
  }

  @Test
  void everyTextExistsInBothLanguages() {
    Set<String> english = keys(Page.texts().get("en"));
    assertThat(keys(Page.texts().get("zh"))).isEqualTo(english);
    Set<String> used = new TreeSet<>();
    messages(data, used);
    Matcher m =
        Pattern.compile("(?:\\bt\\(|key: )'([a-z]+\\.[\\w.]*[a-zA-Z0-9])'")
            .matcher(Page.resource("report.js"));
    while (m.find()) {
      used.add(m.group(1));
    }
    assertThat(english).containsAll(used);
    assertThat(used).hasSizeGreaterThan(150);
    for (Kind kind : Kind.values()) {
      assertThat(english).contains("kind." + kind);
    }
  }

  @Test
  void wordsOfClosedSetsExist() {
    Set<String> english = keys(Page.texts().get("en"));
    for (Bound bound : Bound.values()) {
      assertThat(english).contains(Message.of(bound).key());
    }
    for (Provenance provenance : Provenance.values()) {
      assertThat(english).contains(Message.of(provenance).key());
    }
    for (Formula formula : Formula.values()) {
      String key = Message.of(formula).key();
      assertThat(Page.texts().get("en").path(key).asText()).isEqualTo(formula.meaning());
    }
  }

  @Test
  void stepsThatCannotBeReadAreShownAndNotPredicted(@TempDir Path folder) {
    String odd =
        new HtmlReport(List.of(new ReportFixture(folder).oddSteps()))
            .predict(List.of(new Workload(1, 1024, 256)))
            .html();
    assertThat(odd).contains("zzz").contains("tp=abc");
  }

  @Test
  void otherWorkDuringTheRunIsSaidFirst() {
    assertThat(data.get("verdict").toString()).contains("other work during");
  }

  @Test
  void bothLanguagesTakeTheSameArguments() {
    Page.texts()
        .get("en")
        .properties()
        .forEach(
            e ->
                assertThat(arguments(Page.texts().get("zh").get(e.getKey()).asText()))
                    .as(e.getKey())
                    .isEqualTo(arguments(e.getValue().asText())));
  }

  private static Set<String> arguments(String text) {
    Set<String> names = new TreeSet<>();
    Matcher m = Pattern.compile("\\{(\\w+)}").matcher(text);
    while (m.find()) {
      names.add(m.group(1));
    }
    return names;
  }

  private static Set<String> keys(JsonNode texts) {
    Set<String> keys = new TreeSet<>();
    texts.fieldNames().forEachRemaining(keys::add);
    return keys;
  }

  private static void messages(JsonNode node, Set<String> keys) {
    if (node.isObject() && node.has("key")) {
      keys.add(node.get("key").asText());
    }
    node.forEach(child -> messages(child, keys));
  }

  @Test
  void whatIsPredictedIsNeverCalledMeasured() {
    for (JsonNode section : data.get("sections")) {
      String id = section.get("id").asText();
      if (id.equals("tpot")) {
        for (JsonNode part : section.get("parts")) {
          part.path("chart")
              .path("series")
              .forEach(s -> assertThat(s.get("kind").asText()).isEqualTo("PREDICTED"));
        }
      }
    }
  }

  @Test
  void everyCaseHasItsCommandAndSamples() throws IOException {
    JsonNode samples = JSON.readTree(element("samples-data"));
    int i = 0;
    for (JsonNode c : data.get("cases")) {
      assertThat(c.get("command").asText()).startsWith("scripts/musabench run");
      boolean failed = c.get("id").asText().contains("onerror");
      assertThat(samples.has(Integer.toString(i))).isEqualTo(!failed);
      i++;
    }
    assertThat(samples.get("0").get("forks")).hasSize(4);
    assertThat(samples.get("0").get("clock")).hasSize(4);
  }

  @Test
  void markdownIsShortAndInert() {
    String text = MarkdownReport.of(report.runData(), report.comparison(), report.serving());
    assertThat(text)
        .contains("musabench compare", "Steps, measured", "*predicted*", "Serving results")
        .doesNotContainPattern("(?<!\\\\)<img");
    assertThat(text.lines().filter(l -> l.startsWith("|")).map(HtmlReportTest::cells).distinct())
        .hasSizeLessThan(9);
  }

  private static int cells(String row) {
    return row.replace("\\|", "").split("\\|").length;
  }
}
