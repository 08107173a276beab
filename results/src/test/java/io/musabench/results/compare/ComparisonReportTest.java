package io.musabench.results.compare;

import static io.musabench.results.compare.Runs.entry;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class ComparisonReportTest {
  private static final String EXPECTED =
      """
      base       /base.json
      candidate  /candidate.json
      judged by  forks, chance of a false alarm among all cases 1.0 %

      size=10
        case               base          candidate            change       95 % interval  epsilon  verdict
        --------------  -------  ------  ---------  -------  -------  ------------------  -------  --------------  ---------------------------------
        Sort.slow       10.0 ns  ±0.0 %    11.0 ns   ±0.0 %  +10.0 %  +10.0 % to +10.0 %    1.0 %  SLOWER
        Sort.fast       11.0 ns  ±0.0 %    10.0 ns   ±0.0 %   -9.1 %    -9.1 % to -9.1 %    1.0 %  FASTER
        Sort.same       10.0 ns  ±0.0 %    10.0 ns   ±0.0 %   +0.0 %     0.0 % to +0.0 %    1.0 %  SAME
        Sort.noisy      10.0 ns  ±0.0 %    10.4 ns  ±21.8 %   +4.4 %  -14.3 % to +27.1 %    1.0 %  UNDECIDED       about 129 more forks would decide
        Sort.unit       10.0 ns  ±0.0 %    10.0 us   ±0.0 %        -                               NOT COMPARABLE
        geometric mean                                        +1.1 %

      Not comparable
        unit: ns/op against us/op (Sort.unit)

      Missing in the candidate, which counts as a regression
        not in the candidate (Sort.gone)

      New, not judged
        Sort.new<&"|>

      1 slower, 1 faster, 1 same, 1 undecided, 1 not comparable, 1 missing, 1 new
      """;

  private static final String TEN = "[[10,10],[10,10],[10,10],[10,10]]";
  private static final String ELEVEN = "[[11,11],[11,11],[11,11],[11,11]]";
  private static final String NOISY = "[[9,9],[10,10],[11,11],[12,12]]";

  @TempDir Path folder;
  private Comparison comparison;

  private Path file(String name, String... entries) throws IOException {
    return Files.writeString(folder.resolve(name), "[" + String.join(",", entries) + "]");
  }

  @BeforeEach
  void oneOfEach() throws IOException {
    Path base =
        file(
            "base.json",
            entry("org.example.Sort.slow", "ns/op", TEN),
            entry("org.example.Sort.fast", "ns/op", ELEVEN),
            entry("org.example.Sort.same", "ns/op", TEN),
            entry("org.example.Sort.noisy", "ns/op", TEN),
            entry("org.example.Sort.gone", "ns/op", TEN),
            entry("org.example.Sort.unit", "ns/op", TEN));
    Path candidate =
        file(
            "candidate.json",
            entry("org.example.Sort.slow", "ns/op", ELEVEN),
            entry("org.example.Sort.fast", "ns/op", TEN),
            entry("org.example.Sort.same", "ns/op", TEN),
            entry("org.example.Sort.noisy", "ns/op", NOISY),
            entry("org.example.Sort.unit", "us/op", TEN),
            entry("org.example.Sort.new<&\\\"|>", "ns/op", TEN));
    comparison = Runs.compare(base, candidate);
  }

  private String write(ComparisonReport form) throws IOException {
    StringWriter out = new StringWriter();
    form.write(comparison, out);
    return out.toString();
  }

  @Test
  void theTextIsATableWithTheReasonsBelow() throws IOException {
    String text = write(ComparisonReport.TEXT).replace(folder.toString(), "");
    assertThat(text).isEqualTo(EXPECTED);
  }

  @Test
  void markdownShowsFirstWhatNeedsAttention() throws IOException {
    String text = write(ComparisonReport.MD);
    assertThat(text)
        .contains("**musabench compare: 1 slower, 1 faster, 1 same, 1 undecided")
        .contains("| Sort.slow | 10.0 ns ±0.0 % | 11.0 ns ±0.0 % | +10.0 % |")
        .contains("**SLOWER**")
        .contains("Sort.new\\<&\"\\|\\>");
    assertThat(text.indexOf("Sort.slow")).isLessThan(text.indexOf("<details>"));
    assertThat(text.indexOf("Sort.same")).isGreaterThan(text.indexOf("<details>"));
  }

  @Test
  void jsonHoldsEveryNumber() throws IOException {
    JsonNode json = new ObjectMapper().readTree(write(ComparisonReport.JSON));
    assertThat(json.get("schema").asText()).isEqualTo("musabench.compare/1");
    assertThat(json.get("exitCode").asInt()).isEqualTo(1);
    assertThat(json.get("base").asText()).isEqualTo(folder.resolve("base.json").toString());
    assertThat(json.get("candidate").asText())
        .isEqualTo(folder.resolve("candidate.json").toString());
    assertThat(json.get("alpha").asDouble()).isEqualTo(0.01);
    assertThat(json.get("intervalLevel").asDouble()).isEqualTo(0.95);
    assertThat(json.get("geometricMeanRatio").asDouble()).isCloseTo(1.011, within(0.0005));
    assertThat(json.get("cases")).hasSize(7);
    // The same numbers as in the table above, in base units.
    assertThat(rounded(json.get("cases").get(0)))
        .isEqualTo(
            """
            {"case":"org.example.Sort.slow:size=10 (avgt)","verdict":"SLOWER",\
            "clockEffect":false,"regression":true,\
            "base":{"timeUs":0.010,"halfWidth":0.000,"forks":4,"samples":8},\
            "candidate":{"timeUs":0.011,"halfWidth":0.000,"forks":4,"samples":8},\
            "ratio":1.100,"ratioLow":1.100,"ratioHigh":1.100,"epsilon":0.010,"epsilonFrom":"least",\
            "adjustedP":0.000,"moreForks":null,"remark":""}""");
    assertThat(rounded(json.get("cases").get(3)))
        .isEqualTo(
            """
            {"case":"org.example.Sort.noisy:size=10 (avgt)","verdict":"UNDECIDED",\
            "clockEffect":false,"regression":false,\
            "base":{"timeUs":0.010,"halfWidth":0.000,"forks":4,"samples":8},\
            "candidate":{"timeUs":0.010,"halfWidth":0.218,"forks":4,"samples":8},\
            "ratio":1.044,"ratioLow":0.857,"ratioHigh":1.271,"epsilon":0.010,"epsilonFrom":"least",\
            "adjustedP":1.000,"moreForks":129,"remark":"about 129 more forks would decide"}""");
    assertThat(rounded(json.get("cases").get(4)))
        .isEqualTo(
            """
            {"case":"org.example.Sort.gone:size=10 (avgt)","verdict":"MISSING",\
            "clockEffect":false,"regression":true,\
            "base":{"timeUs":0.010,"halfWidth":0.000,"forks":4,"samples":8},"candidate":null,\
            "ratio":null,"ratioLow":null,"ratioHigh":null,"epsilon":null,"epsilonFrom":"",\
            "adjustedP":null,"moreForks":null,"remark":"not in the candidate"}""");
    assertThat(write(ComparisonReport.JSON)).endsWith("}\n");
  }

  /** A JSON value in one line, fractions with three digits. */
  private static String rounded(JsonNode json) {
    return Pattern.compile("\\d+\\.\\d+(E-?\\d+)?")
        .matcher(json.toString())
        .replaceAll(m -> "%.3f".formatted(Double.parseDouble(m.group())));
  }

  @Test
  void csvHasARowACase() throws IOException {
    List<CSVRecord> rows =
        CSVFormat.RFC4180
            .builder()
            .setHeader()
            .setSkipHeaderRecord(true)
            .get()
            .parse(new StringReader(write(ComparisonReport.CSV)))
            .getRecords();
    assertThat(rows).hasSize(7);
    assertThat(rows.get(0).get("verdict")).isEqualTo("SLOWER");
    assertThat(Double.parseDouble(rows.get(0).get("change_percent"))).isBetween(9.99, 10.01);
    assertThat(rows.get(5).get("remark")).isEqualTo("unit: ns/op against us/op");
  }

  @Test
  void junitFailsWhatTheExitCodeFails() throws Exception {
    Document xml =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new InputSource(new StringReader(write(ComparisonReport.JUNIT))));
    assertThat(xml.getDocumentElement().getAttribute("tests")).isEqualTo("7");
    assertThat(xml.getDocumentElement().getAttribute("failures")).isEqualTo("2");
    assertThat(xml.getElementsByTagName("failure").getLength()).isEqualTo(2);
    assertThat(xml.getElementsByTagName("error").getLength()).isEqualTo(1);
    assertThat(xml.getElementsByTagName("skipped").getLength()).isEqualTo(1);
    assertThat(xml.getElementsByTagName("failure").item(0).getAttributes().getNamedItem("message"))
        .hasToString("message=\"SLOWER +10.0 % (+10.0 % to +10.0 %)\"");
  }
}
