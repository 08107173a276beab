package io.musabench.results.run;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.NullNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.musabench.results.model.Work;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVPrinter;
import org.apache.commons.csv.CSVRecord;

/** The texts of a run's files, and back. */
final class RunFiles {
  static final int CSV_SCHEMA_VERSION = 1;

  private static final JsonNode UNKNOWN = TextNode.valueOf("unknown");

  /**
   * Rows of cases.csv itself, the same in each of them, and those that a case has in the other
   * files: a file that was cut between two rows looks whole.
   */
  private static final String ROWS = "rows";

  private static final String PART_ROWS = "part_rows";
  private static final String GRAPH_ROWS = "graph_rows";

  private static final String[] CASE_COLUMNS = {
    "schema_version",
    "case",
    "benchmark",
    "params",
    "status",
    "reason",
    "kernel",
    "shape",
    "forks",
    "lost_forks",
    "samples",
    "launches",
    "kernels",
    "device_time_median_us",
    "device_time_p10_us",
    "device_time_p90_us",
    "host_time_median_us",
    "submit_time_median_us",
    "first_run_us",
    "over_kernels_median_us",
    "over_kernels_low_us",
    "over_kernels_high_us",
    "flop",
    "bytes",
    "gb_per_s",
    "tflop_per_s",
    "roof",
    "percent_of_roof",
    "unmet",
    "throttled_samples",
    "core_clock_mhz",
    "power_w",
    "temperature_c",
    "throttle_reasons",
    "other_cpu_percent",
    "steal_percent",
    "other_processes",
    "check",
    "note",
    "reproduce",
    ROWS,
    PART_ROWS,
    GRAPH_ROWS
  };

  /** Columns that files of older runs lack; what they say is then unknown. */
  private static final Set<String> LATER_COLUMNS =
      Set.of(
          "over_kernels_median_us",
          "over_kernels_low_us",
          "over_kernels_high_us",
          "lost_forks",
          "first_run_us",
          "unmet",
          "throttled_samples",
          "core_clock_mhz",
          "power_w",
          "temperature_c",
          "throttle_reasons",
          "other_cpu_percent",
          "steal_percent",
          "other_processes",
          ROWS,
          PART_ROWS,
          GRAPH_ROWS);

  private static final String[] PART_COLUMNS = {
    "schema_version",
    "case",
    "role",
    "kernel",
    "shape",
    "count",
    "device_time_median_us",
    "flop",
    "bytes"
  };

  private static final String[] GRAPH_COLUMNS = {
    "schema_version",
    "case",
    "eager_device_us",
    "eager_span_us",
    "eager_submit_us",
    "graph_device_us",
    "graph_span_us",
    "graph_submit_us",
    "saved_median_us",
    "saved_low_us",
    "saved_high_us",
    "capture_us",
    "instantiate_us",
    "upload_us",
    "break_even",
    "break_even_replays",
    "updated_device_us",
    "updated_span_us",
    "updated_submit_us",
    "update_us",
    "captured_requests",
    "padded_device_us",
    "padded_span_us",
    "padded_submit_us"
  };

  private static final String[] SAMPLE_COLUMNS = {
    "schema_version", "case", "metric", "fork", "iteration", "index", "value", "unit"
  };

  private static final ObjectMapper JSON =
      new ObjectMapper()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  private RunFiles() {}

  // ---- environment.json

  static byte[] environment(Environment environment) {
    try {
      JsonNode tree = JSON.valueToTree(environment);
      return JSON.writeValueAsBytes(replace(tree, NullNode.getInstance(), UNKNOWN));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("The environment is plain data", e);
    }
  }

  /**
   * Reads {@code environment.json}.
   *
   * @throws RunException if it is not JSON or of another schema version
   */
  static Environment environment(String file, byte[] content) {
    try {
      JsonNode root = JSON.readTree(content);
      checkVersion(file, root.path("schemaVersion").asText(), Environment.SCHEMA_VERSION);
      Environment environment =
          JSON.treeToValue(replace(root, UNKNOWN, NullNode.getInstance()), Environment.class);
      // Every run has them, and everything that reads a run needs them.
      if (environment.target() == null || environment.createdUtc() == null) {
        String missing = environment.target() == null ? "target" : "createdUtc";
        throw new RunException(file + " is not a valid environment: it has no " + missing);
      }
      return environment;
    } catch (JsonMappingException e) {
      String where =
          e.getPath().isEmpty() ? "its content" : "\"" + e.getPath().get(0).getFieldName() + "\"";
      throw new RunException(file + " is not a valid environment: " + where + " is damaged", e);
    } catch (JsonProcessingException e) {
      // Jackson names where an unfinished object began, at length.
      String what = e.getOriginalMessage().replaceAll("\\s*\\(start marker at (?s:.*)", "");
      throw new RunException(file + " is not a valid environment: " + what, e);
    } catch (IOException e) {
      throw new RunException(file + " is not a valid environment: " + e.getMessage(), e);
    }
  }

  /** Replaces every value equal to {@code from}, at any depth. */
  private static JsonNode replace(JsonNode node, JsonNode from, JsonNode to) {
    if (node instanceof ObjectNode object) {
      object.properties().forEach(field -> field.setValue(replace(field.getValue(), from, to)));
    } else if (node instanceof ArrayNode array) {
      for (int i = 0; i < array.size(); i++) {
        array.set(i, replace(array.get(i), from, to));
      }
    }
    return node.equals(from) ? to : node;
  }

  // ---- CSV

  static byte[] cases(List<CaseResult> cases) {
    Roofs roofs = Roofs.of(cases);
    return csv(
        CASE_COLUMNS,
        out -> {
          for (CaseResult c : cases) {
            Roofs.Share share = roofs.share(c);
            out.printRecord(
                CSV_SCHEMA_VERSION,
                c.id(),
                c.benchmark(),
                Params.format(c.params()),
                c.status().text(),
                c.reason(),
                c.kernel(),
                c.shape(),
                c.forks(),
                c.lostForks(),
                c.samples(),
                c.launches(),
                c.kernels(),
                cell(c.deviceTimeMedianUs()),
                cell(c.deviceTimeP10Us()),
                cell(c.deviceTimeP90Us()),
                cell(c.hostTimeMedianUs()),
                cell(c.submitTimeMedianUs()),
                cell(c.firstRunUs()),
                cell(c.overKernels().medianUs()),
                cell(c.overKernels().lowUs()),
                cell(c.overKernels().highUs()),
                c.work().flops(),
                c.work().bytes(),
                derived(c.gbPerS()),
                derived(c.tflopPerS()),
                share == null ? "" : share.bound().text(),
                share == null ? "" : derived(share.percent()),
                c.conditions().unmet(),
                c.conditions().throttledSamples(),
                derived(c.conditions().coreClockMhz()),
                derived(c.conditions().powerWatts()),
                derived(c.conditions().temperatureCelsius()),
                c.conditions().throttleReasons(),
                derived(c.conditions().otherCpuPercent()),
                derived(c.conditions().stealPercent()),
                c.conditions().otherProcesses(),
                c.check(),
                c.note(),
                c.reproduce(),
                cases.size(),
                c.parts().size(),
                c.graphCosts().known() ? 1 : 0);
          }
        });
  }

  static byte[] parts(List<CaseResult> cases) {
    return csv(
        PART_COLUMNS,
        out -> {
          for (CaseResult c : cases) {
            for (CasePart p : c.parts()) {
              out.printRecord(
                  CSV_SCHEMA_VERSION,
                  c.id(),
                  p.role(),
                  p.kernel(),
                  p.shape(),
                  p.count(),
                  cell(p.deviceTimeMedianUs()),
                  p.work().flops(),
                  p.work().bytes());
            }
          }
        });
  }

  static byte[] graphs(List<CaseResult> cases) {
    return csv(
        GRAPH_COLUMNS,
        out -> {
          for (CaseResult c : cases) {
            GraphCosts g = c.graphCosts();
            if (!g.known()) {
              continue;
            }
            GraphCosts.BreakEven even = g.breakEven();
            out.printRecord(
                CSV_SCHEMA_VERSION,
                c.id(),
                cell(g.eager().deviceUs()),
                cell(g.eager().spanUs()),
                cell(g.eager().submitUs()),
                cell(g.graph().deviceUs()),
                cell(g.graph().spanUs()),
                cell(g.graph().submitUs()),
                cell(g.savedUs().median()),
                cell(g.savedUs().low()),
                cell(g.savedUs().high()),
                cell(g.captureUs()),
                cell(g.instantiateUs()),
                cell(g.uploadUs()),
                even.outcome().text(),
                derived(even.replays()),
                cell(g.updated().deviceUs()),
                cell(g.updated().spanUs()),
                cell(g.updated().submitUs()),
                cell(g.updateUs()),
                g.capturedRequests(),
                cell(g.padded().deviceUs()),
                cell(g.padded().spanUs()),
                cell(g.padded().submitUs()));
          }
        });
  }

  static byte[] samples(List<Sample> samples) {
    return csv(
        SAMPLE_COLUMNS,
        out -> {
          for (Sample s : samples) {
            out.printRecord(
                CSV_SCHEMA_VERSION,
                s.caseId(),
                s.metric(),
                s.fork(),
                s.iteration(),
                s.index(),
                cell(s.value()),
                s.unit());
          }
        });
  }

  private static Map<String, GraphCosts> graphsIn(List<Row> rows) {
    Map<String, GraphCosts> graphs = new LinkedHashMap<>();
    for (Row row : rows) {
      graphs.put(
          row.text("case"),
          new GraphCosts(
              row.spans("eager"),
              row.spans("graph"),
              new MedianInterval(
                  row.number("saved_median_us"),
                  row.number("saved_low_us"),
                  row.number("saved_high_us")),
              row.number("capture_us"),
              row.number("instantiate_us"),
              row.number("upload_us"),
              row.spans("updated"),
              row.number("update_us"),
              row.integer("captured_requests"),
              row.spans("padded")));
    }
    return graphs;
  }

  private static Map<String, List<CasePart>> partsIn(List<Row> rows) {
    Map<String, List<CasePart>> parts = new LinkedHashMap<>();
    for (Row row : rows) {
      parts
          .computeIfAbsent(row.text("case"), id -> new ArrayList<>())
          .add(
              new CasePart(
                  row.text("role"),
                  row.text("kernel"),
                  row.text("shape"),
                  row.integer("count"),
                  row.work(),
                  row.number("device_time_median_us")));
    }
    return parts;
  }

  /**
   * A file as it is read.
   *
   * @param name for messages
   * @param bytes null where runs of before there was such a file have none
   */
  record Content(String name, byte[] bytes) {}

  /**
   * Reads {@code cases.csv} and what the other files have of its cases.
   *
   * @throws RunException also if a file has lost rows
   */
  static List<CaseResult> cases(Content casesFile, Content partsFile, Content graphsFile) {
    List<Row> rows = rows(casesFile, CASE_COLUMNS);
    for (Row row : rows) {
      if (row.has(ROWS) && row.integer(ROWS) != rows.size()) {
        throw lost(casesFile.name(), rows.size(), row.integer(ROWS));
      }
    }
    Map<String, List<CasePart>> parts = partsIn(rowsOf(rows, PART_ROWS, partsFile, PART_COLUMNS));
    Map<String, GraphCosts> graphs = graphsIn(rowsOf(rows, GRAPH_ROWS, graphsFile, GRAPH_COLUMNS));
    List<CaseResult> cases = new ArrayList<>();
    for (Row row : rows) {
      CaseResult c =
          CaseResult.of(row.text("benchmark"), row.params())
              .notOk(row.status(), row.text("reason"))
              .kernel(row.text("kernel"), row.text("shape"))
              .kernels(row.integer("kernels"))
              .forks(row.integer("forks"))
              .lostForks(row.has("lost_forks") ? row.integer("lost_forks") : 0)
              .launches(row.integer("launches"))
              .deviceTimeUs(
                  row.integer("samples"),
                  row.number("device_time_median_us"),
                  row.number("device_time_p10_us"),
                  row.number("device_time_p90_us"))
              .hostTimeMedianUs(row.number("host_time_median_us"))
              .submitTimeMedianUs(row.number("submit_time_median_us"))
              .firstRunUs(row.number("first_run_us"))
              .conditions(row.conditions())
              .overKernels(
                  new OverKernels(
                      row.number("over_kernels_median_us"),
                      row.number("over_kernels_low_us"),
                      row.number("over_kernels_high_us")))
              .graphCosts(graphs.getOrDefault(row.text("case"), GraphCosts.UNKNOWN))
              .work(row.work())
              .parts(parts.getOrDefault(row.text("case"), List.of()))
              .check(row.text("check"))
              .note(row.text("note"))
              .reproduce(row.text("reproduce"))
              .build();
      cases.add(c);
    }
    return cases;
  }

  /**
   * The rows of another file, at least as many as the cases tell of. A run that is killed while it
   * is saved has more of them: its last case is not in {@code cases.csv} yet.
   */
  private static List<Row> rowsOf(List<Row> cases, String number, Content file, String[] columns) {
    List<Row> rows = rows(file, columns);
    int written = cases.stream().mapToInt(c -> c.has(number) ? c.integer(number) : 0).sum();
    if (rows.size() < written) {
      throw lost(file.name(), rows.size(), written);
    }
    return rows;
  }

  private static RunException lost(String file, int found, int written) {
    return new RunException(
        "%s has %d row%s where %d were written"
            .formatted(file, found, found == 1 ? "" : "s", written));
  }

  /** Reads samples one by one: a run may have millions. */
  static void samples(String file, Reader text, Consumer<Sample> consumer) {
    eachRow(
        file,
        text,
        SAMPLE_COLUMNS,
        row ->
            consumer.accept(
                new Sample(
                    row.text("case"),
                    row.text("metric"),
                    row.integer("fork"),
                    row.integer("iteration"),
                    row.integer("index"),
                    row.number("value"),
                    row.text("unit"))));
  }

  /** Every digit, so that what is read back is what was measured. */
  private static String cell(double value) {
    return Double.isNaN(value) ? "" : Double.toString(value);
  }

  /** Follows from other columns, so six digits are enough. */
  private static String derived(double value) {
    return Double.isFinite(value) ? String.format(Locale.ROOT, "%.6g", value) : "";
  }

  private interface Body {
    void print(CSVPrinter out) throws IOException;
  }

  private static CSVFormat.Builder format() {
    return CSVFormat.RFC4180.builder().setRecordSeparator("\n");
  }

  private static byte[] csv(String[] columns, Body body) {
    StringBuilder text = new StringBuilder();
    try (CSVPrinter out = new CSVPrinter(text, format().setHeader(columns).get())) {
      body.print(out);
    } catch (IOException e) {
      throw new UncheckedIOException("A StringBuilder does not fail", e);
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static List<Row> rows(Content file, String[] columns) {
    byte[] bytes = file.bytes();
    if (bytes == null) {
      return List.of();
    }
    if (bytes.length > 0 && bytes[bytes.length - 1] != '\n') {
      // A number that was cut is a smaller one.
      throw new RunException(file.name() + " ends within a line: it was cut off");
    }
    List<Row> rows = new ArrayList<>();
    Reader text = new StringReader(new String(bytes, StandardCharsets.UTF_8));
    eachRow(file.name(), text, columns, rows::add);
    return rows;
  }

  private static void eachRow(String file, Reader text, String[] columns, Consumer<Row> consumer) {
    CSVFormat format = format().setHeader().setSkipHeaderRecord(true).get();
    try (var parser = format.parse(text)) {
      for (String column : columns) {
        if (!LATER_COLUMNS.contains(column) && !parser.getHeaderNames().contains(column)) {
          throw new RunException(file + " has no column " + column);
        }
      }
      for (CSVRecord line : parser) {
        if (!line.isConsistent()) {
          throw new RunException(
              file + ", row " + line.getRecordNumber() + ": it has " + line.size() + " cells");
        }
        Row row = new Row(file, line);
        checkVersion(file, row.text("schema_version"), CSV_SCHEMA_VERSION);
        consumer.accept(row);
      }
    } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
      throw RunException.because(file + " is not valid CSV", e);
    }
  }

  private static void checkVersion(String file, String found, int expected) {
    if (!found.equals(Integer.toString(expected))) {
      throw new RunException(
          file
              + " has schema version "
              + (found.isEmpty() ? "(none)" : found)
              + ", this program reads "
              + expected);
    }
  }

  /** A line of a CSV file; an error names file, row and column. */
  private record Row(String file, CSVRecord line) {
    String text(String column) {
      return line.isMapped(column) || !LATER_COLUMNS.contains(column) ? line.get(column) : "";
    }

    boolean has(String column) {
      return line.isMapped(column);
    }

    Conditions conditions() {
      return new Conditions(
          text("unmet"),
          text("throttled_samples").isEmpty() ? 0 : integer("throttled_samples"),
          number("core_clock_mhz"),
          number("power_w"),
          number("temperature_c"),
          text("throttle_reasons"),
          number("other_cpu_percent"),
          number("steal_percent"),
          text("other_processes"));
    }

    int integer(String column) {
      try {
        return Integer.parseInt(text(column));
      } catch (NumberFormatException e) {
        throw bad(column, "\"" + text(column) + "\" is no whole number", e);
      }
    }

    double number(String column) {
      String text = text(column);
      try {
        return text.isEmpty() ? Double.NaN : Double.parseDouble(text);
      } catch (NumberFormatException e) {
        throw bad(column, "\"" + text + "\" is no number", e);
      }
    }

    GraphCosts.Spans spans(String way) {
      return new GraphCosts.Spans(
          number(way + "_device_us"), number(way + "_span_us"), number(way + "_submit_us"));
    }

    Work work() {
      try {
        return new Work(Long.parseLong(text("flop")), Long.parseLong(text("bytes")));
      } catch (IllegalArgumentException e) {
        throw bad("flop or bytes", e.getMessage(), e);
      }
    }

    Status status() {
      try {
        return Status.valueOf(text("status").toUpperCase(Locale.ROOT));
      } catch (IllegalArgumentException e) {
        throw bad("status", "\"" + text("status") + "\" is none", e);
      }
    }

    Map<String, String> params() {
      try {
        return Params.parse(text("params"));
      } catch (IllegalArgumentException e) {
        throw bad("params", e.getMessage(), e);
      }
    }

    private RunException bad(String column, String why, Exception e) {
      return new RunException(
          file + ", row " + line.getRecordNumber() + ", column " + column + ": " + why, e);
    }
  }
}
