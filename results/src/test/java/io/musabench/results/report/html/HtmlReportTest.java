package io.musabench.results.report.html;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.musabench.results.report.MarkdownReport;
import io.musabench.results.serving.Formula;
import io.musabench.results.tpot.Bound;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.answers.AnswerFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
    return element(html, id);
  }

  private static String element(String html, String id) {
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
            "validation",
            "devices",
            "serving",
            "cases");
  }

  @Test
  void everyChartAndTableHasANameOfItsOwn() {
    assertThat(parts(data).keySet()).hasSizeGreaterThan(25);
  }

  /** Charts and tables by name. */
  private static Map<String, JsonNode> parts(JsonNode page) {
    Map<String, JsonNode> parts = new LinkedHashMap<>();
    for (JsonNode section : page.get("sections")) {
      for (JsonNode part : section.get("parts")) {
        String kind = part.has("chart") ? "chart" : "table";
        String name = kind + " " + part.get(kind).get("id").asText();
        assertThat(parts.put(name, part.get(kind))).as(name).isNull();
      }
    }
    return parts;
  }

  @Test
  void cardsOfOneKindStandBesideEachOther(@TempDir Path folder) throws IOException {
    ReportFixture fixture = new ReportFixture(folder);
    List<Path> runs = new ArrayList<>();
    double[] scales = {1, 1.01, 1.2, 0.99};
    for (int card = 0; card < scales.length; card++) {
      runs.add(fixture.run("MTT S5000", card, scales[card], Map.of("gpu_uuid", "uuid-" + card)));
    }
    JsonNode page = JSON.readTree(element(new HtmlReport(runs).html(), "data"));
    String verdict = page.get("verdict").toString();
    assertThat(verdict).contains("verdict.card_slower", "\"number\":\"2\"", "\"share\":\"19.");
    assertThat(verdict).doesNotContain("verdict.card_faster");
    JsonNode times = parts(page).get("table cards-times-mtt-s5000");
    List<String> columns = new ArrayList<>();
    times.get("columns").forEach(c -> columns.add(c.get("name").asText()));
    assertThat(columns)
        .containsExactly("case", "card_0", "card_1", "card_2", "card_3", "spread", "differs");
    JsonNode row = times.get("rows").get(0);
    assertThat(row.get(3).asDouble() / row.get(1).asDouble()).isCloseTo(1.2, within(1e-3));
    assertThat(row.get(5).asDouble()).isCloseTo(100 * (1.2 / 0.99 - 1), within(0.1));
    assertThat(row.get(6).asText()).startsWith("2: +19.");
    JsonNode chart = parts(page).get("chart cards-mtt-s5000");
    assertThat(chart.get("series")).hasSize(4 + 2);
    assertThat(parts(page).get("table cards-state-mtt-s5000").toString()).contains("uuid-3");
    assertThat(parts(data).keySet()).noneMatch(name -> name.contains("cards"));
    Set<String> used = new TreeSet<>();
    messages(page, used);
    used.removeIf(key -> key.startsWith("said."));
    assertThat(keys(Page.texts().get("en"))).containsAll(used);
  }

  @Test
  void ofTwoCardsNeitherIsBlamed(@TempDir Path folder) throws IOException {
    ReportFixture fixture = new ReportFixture(folder);
    Path one = fixture.run("MTT S5000", 0, 1, Map.of());
    Path two = fixture.run("MTT S5000", 1, 1.2, Map.of());
    String page = element(new HtmlReport(List.of(one, two)).html(), "data");
    assertThat(page).contains("note.cards_few").doesNotContain("verdict.card_");
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
  void everyTextExistsInBothLanguages() throws IOException {
    JsonNode texts = JSON.readTree(element("texts"));
    Set<String> english = keys(texts.get("en"));
    assertThat(keys(texts.get("zh"))).isEqualTo(english);
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
  void thePageHasTheSentencesThatItsDataUses() throws IOException {
    JsonNode english = JSON.readTree(element("texts")).get("en");
    Set<String> used = new TreeSet<>();
    messages(data, used);
    Set<String> said = new TreeSet<>(keys(english));
    said.removeIf(key -> !key.startsWith("said."));
    used.removeIf(key -> !key.startsWith("said."));
    assertThat(said).isEqualTo(used).hasSizeGreaterThan(15);
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
    Message said =
        Message.said(
            "other work during 8 of 18 cases: up to 30 % of the CPUs, 0 % stolen"
                + ", on the device x (other_cpu_percent, steal_percent in cases.csv)");
    assertThat(data.get("verdict").toString()).contains("\"" + said.key() + "\"");
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
      if (id.equals("tpot") || id.equals("validation")) {
        for (JsonNode part : section.get("parts")) {
          part.path("chart")
              .path("series")
              .forEach(s -> assertThat(s.get("kind").asText()).isIn("PREDICTED", "LIMIT"));
        }
      }
    }
  }

  @Test
  void answersFromFilesAreShownAsThoseOfTheRuns() {
    Map<String, JsonNode> parts = parts(data);
    for (String what : List.of("tpot", "ttft", "decomposition")) {
      List<String> names = names(parts, "chart " + what + "-");
      assertThat(names).as(what).hasSize(1 + 2);
    }
    JsonNode predictions = parts.get(names(parts, "table predictions-").get(2));
    assertThat(predictions.get("rows")).hasSize(2);
    assertThat(predictions.get("rows").get(1).get(1).asInt()).isEqualTo(16);
    assertThat(predictions.has("command")).isFalse();
    assertThat(names(parts, "table steps-predicted-")).hasSize(1);
    assertThat(names(parts, "table steps-operations-")).hasSize(1);
    assertThat(names(parts, "chart sensitivity-")).hasSize(1 + 2);
    assertThat(data.toString()).contains("\"change\":\"-20.0 %\"");
    assertThat(names(parts, "chart what-if-")).hasSize(1);
    JsonNode there = parts.get(names(parts, "table what-if-").get(0)).get("rows").get(1);
    // TPOT's ratio and its interval.
    assertThat(there.get(12).asDouble()).isLessThan(there.get(11).asDouble());
    assertThat(there.get(13).asDouble()).isGreaterThan(there.get(11).asDouble());
    assertThat(data.toString()).contains("note.interval\"");
    JsonNode gain = parts.get(names(parts, "chart graph-gain-").get(2));
    assertThat(gain.get("series"))
        .allMatch(s -> s.get("kind").asText().equals("PREDICTED"))
        .hasSize(2);
  }

  @Test
  void filesWhoseNamesHaveTheSameLettersAreToldApart(@TempDir Path folder) throws IOException {
    ReportFixture fixture = new ReportFixture(folder);
    AnswerFile file = fixture.answers(fixture.run("MTT S5000", 1, Map.of())).get(0);
    HtmlReport page = new HtmlReport(List.of());
    for (String name : List.of("\u4e00.json", "\u4e8c.json", "2.json", "json")) {
      page.answer(AnswerFile.read(Files.copy(file.path(), folder.resolve(name))));
    }
    assertThat(parts(JSON.readTree(element(page.html(), "data")))).hasSize(4 * 8);
  }

  private static List<String> names(Map<String, JsonNode> parts, String prefix) {
    return parts.keySet().stream().filter(name -> name.startsWith(prefix)).toList();
  }

  @Test
  void predictionsStandBesideWhatWasMeasured() {
    Map<String, JsonNode> parts = parts(data);
    JsonNode services = parts.get(names(parts, "chart validation-").get(0));
    JsonNode compared = services.get("series").get(0);
    assertThat(compared.get("x").get(0).asDouble()).isEqualTo(2500);
    assertThat(compared.get("x")).hasSize(2);
    assertThat(compared.get("low").get(0).asDouble())
        .isLessThanOrEqualTo(compared.get("y").get(0).asDouble());
    assertThat(services.get("series").get(1).get("x").get(0).asDouble()).isEqualTo(0.1);
    assertThat(parts.get(names(parts, "table validation-rows-").get(0)).get("rows")).hasSize(3);
    JsonNode check = parts.get(names(parts, "table check-").get(0));
    assertThat(check.get("rows")).hasSize(10);
    JsonNode step = check.get("rows").get(0);
    assertThat(step.get(2).asDouble()).isLessThan(step.get(1).asDouble());
    assertThat(step.get(6).asDouble()).isGreaterThan(step.get(4).asDouble());
    JsonNode lookups = parts.get(names(parts, "table lookup-errors-").get(0));
    assertThat(lookups.get("rows")).isNotEmpty();
    assertThat(lookups.toString()).contains("gemm, beyond", "said.");
    assertThat(data.toString()).contains("note.covered", "note.answer_file");
  }

  @Test
  void aRunsMeasuredStepsStandOnlyBesideItsOwnPredictions() {
    Map<String, JsonNode> parts = parts(data);
    for (int run = 0; run < 2; run++) {
      String letter = ReportModel.letter(run).toLowerCase(Locale.ROOT);
      JsonNode chart = parts.get("chart graph-gain-" + letter + "-qwen3-0-6b-graph");
      Set<Integer> cases = new TreeSet<>();
      chart.get("series").get(2).get("cases").forEach(c -> cases.add(c.asInt()));
      int half = data.get("cases").size() / 2;
      int at = run;
      assertThat(cases).isNotEmpty().allMatch(c -> c / half == at);
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
