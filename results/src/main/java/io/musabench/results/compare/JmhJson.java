package io.musabench.results.compare;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.musabench.results.run.Params;
import io.musabench.results.run.RunException;
import io.musabench.results.run.Sample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Reads the JSON of JMH, of any project, as a stream: results of ten thousand benchmarks need not
 * fit into memory as a tree. Members that are not needed are skipped, so other versions of JMH are
 * read too.
 */
final class JmhJson {
  private static final JsonFactory JSON =
      new JsonFactoryBuilder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

  /** Members that change what is measured; the number of forks and iterations does not. */
  private static final List<String> CONDITIONS =
      List.of("threads", "vmName", "vmVersion", "measurementBatchSize");

  private final String file;
  private final JsonParser in;

  private JmhJson(String file, JsonParser in) {
    this.file = file;
    this.in = in;
  }

  /**
   * Reads a file.
   *
   * @throws RunException if it cannot be read, is truncated, or is not JMH's
   */
  static MeasuredRun read(Path path) {
    try (JsonParser in = JSON.createParser(Files.newInputStream(path))) {
      List<MeasuredCase> cases = new JmhJson(path.toString(), in).cases();
      return MeasuredRun.of(path.toString(), null, cases);
    } catch (JsonProcessingException e) {
      throw new RunException(path + " is not valid JSON: " + oneLine(e), e);
    } catch (NoSuchFileException e) {
      throw new RunException("There is no file or run directory " + path, e);
    } catch (IOException e) {
      throw RunException.because("Cannot read " + path, e);
    }
  }

  private static String oneLine(JsonProcessingException e) {
    String where = e.getLocation() == null ? "" : " (line " + e.getLocation().getLineNr() + ")";
    // Jackson names where an unfinished array began, at length and on another line.
    String message = e.getOriginalMessage().replaceAll("\\s*\\(start marker at (?s:.*)", "");
    return message.replaceAll("\\s*\\R\\s*", " ") + where;
  }

  private List<MeasuredCase> cases() throws IOException {
    if (in.nextToken() != JsonToken.START_ARRAY) {
      throw foreign("it does not start with an array of results");
    }
    List<MeasuredCase> cases = new ArrayList<>();
    while (in.nextToken() != JsonToken.END_ARRAY) {
      if (in.currentToken() != JsonToken.START_OBJECT) {
        throw foreign("entry " + (cases.size() + 1) + " is not an object");
      }
      cases.add(result(cases.size() + 1));
    }
    if (cases.isEmpty()) {
      throw foreign("it has no results");
    }
    if (in.nextToken() != null) {
      throw foreign("something follows its array of results");
    }
    return cases;
  }

  private RunException foreign(String why) {
    return new RunException(file + " is not a result file of JMH: " + why);
  }

  /** One result; the parser stands at its opening brace and is left at its closing one. */
  private MeasuredCase result(int number) throws IOException {
    String benchmark = "";
    String mode = "";
    SortedMap<String, String> params = new TreeMap<>();
    SortedMap<String, String> conditions = new TreeMap<>();
    Metric primary = null;
    Metric clock = null;
    while (in.nextToken() != JsonToken.END_OBJECT) {
      String name = in.currentName();
      in.nextToken();
      switch (name) {
        case "benchmark" -> benchmark = text();
        case "mode" -> mode = text();
        case "params" -> params = params();
        case "jvmArgs" -> conditions.put(name, jvmArguments());
        case "primaryMetric" -> primary = metric();
        case "secondaryMetrics" -> clock = clock();
        default -> {
          if (CONDITIONS.contains(name) && in.currentToken().isScalarValue()) {
            conditions.put(name, in.getValueAsString());
          }
          in.skipChildren();
        }
      }
    }
    if (benchmark.isEmpty() || primary == null) {
      throw foreign(
          "entry "
              + number
              + " has no \""
              + (benchmark.isEmpty() ? "benchmark" : "primaryMetric")
              + "\"");
    }
    String id = benchmark + (params.isEmpty() ? "" : ":" + Params.format(params));
    return measured(id + " (" + mode + ")", benchmark, params, conditions, primary, clock);
  }

  private static MeasuredCase measured(
      String id,
      String benchmark,
      SortedMap<String, String> params,
      SortedMap<String, String> conditions,
      Metric primary,
      Metric clock) {
    List<ForkMedian> times = List.of();
    List<ForkMedian> clocks = List.of();
    String problem = "";
    try {
      TimeUnit unit = TimeUnit.parse(primary.unit);
      times = primary.forks.medians(unit.microseconds(), unit.rate(), "time");
      clocks = clock == null ? List.of() : clock.forks.medians(1, false, "clock");
      if (times.isEmpty()) {
        problem = "it has no samples";
      }
    } catch (IllegalArgumentException e) {
      problem = e.getMessage();
    }
    return new MeasuredCase(
        id,
        benchmark,
        params,
        primary.unit,
        conditions,
        times,
        0,
        clocks.size() == times.size() ? clocks : List.of(),
        0,
        "",
        problem);
  }

  private SortedMap<String, String> params() throws IOException {
    SortedMap<String, String> params = new TreeMap<>();
    if (in.currentToken() == JsonToken.START_OBJECT) {
      while (in.nextToken() != JsonToken.END_OBJECT) {
        String name = in.currentName();
        in.nextToken();
        params.put(name, text());
      }
    }
    return params;
  }

  /** A text or a number; empty if it is neither, which is then skipped. */
  private String text() throws IOException {
    String text = in.getValueAsString("");
    in.skipChildren();
    return text;
  }

  /** Arguments of the forks' JVM without those that only say where files lie. */
  private String jvmArguments() throws IOException {
    List<String> arguments = new ArrayList<>();
    if (in.currentToken() == JsonToken.START_ARRAY) {
      while (in.nextToken() != JsonToken.END_ARRAY) {
        String argument = text();
        if (!argument.contains("/") && !argument.contains("\\")) {
          arguments.add(argument);
        }
      }
    }
    return String.join(" ", arguments);
  }

  /** Unit and samples of a metric. */
  private static final class Metric {
    private final Forks forks = new Forks();
    private String unit = "";
  }

  private Metric clock() throws IOException {
    Metric clock = null;
    if (in.currentToken() == JsonToken.START_OBJECT) {
      while (in.nextToken() != JsonToken.END_OBJECT) {
        String name = in.currentName();
        in.nextToken();
        if (name.equals(Sample.DEVICE_CLOCK)) {
          clock = metric();
        } else {
          in.skipChildren();
        }
      }
    }
    return clock;
  }

  private Metric metric() throws IOException {
    if (in.currentToken() != JsonToken.START_OBJECT) {
      throw foreign("a metric is not an object");
    }
    Metric metric = new Metric();
    while (in.nextToken() != JsonToken.END_OBJECT) {
      String name = in.currentName();
      in.nextToken();
      switch (name) {
        case "scoreUnit" -> metric.unit = text();
        case "rawData" -> rawData(metric.forks, false);
        case "rawDataHistogram" -> rawData(metric.forks, true);
        default -> in.skipChildren();
      }
    }
    return metric;
  }

  /** {@code [fork][iteration]}, each a score or, in a histogram, a list of value and count. */
  private void rawData(Forks forks, boolean histogram) throws IOException {
    expectArray();
    for (int fork = 1; in.nextToken() != JsonToken.END_ARRAY; fork++) {
      expectArray();
      forks.open(fork);
      while (in.nextToken() != JsonToken.END_ARRAY) {
        forks.add(fork, histogram ? histogramMedian() : number());
      }
    }
  }

  private void expectArray() throws IOException {
    if (in.currentToken() != JsonToken.START_ARRAY) {
      throw foreign("its raw data is not [fork][iteration]");
    }
  }

  /** Infinity and NaN are numbers of JMH, written as text; what they mean is decided later. */
  private double number() throws IOException {
    if (in.currentToken().isNumeric()) {
      return in.getDoubleValue();
    }
    if (in.currentToken() == JsonToken.VALUE_STRING) {
      try {
        return Double.parseDouble(in.getText());
      } catch (NumberFormatException e) {
        throw foreign("its raw data holds \"" + in.getText() + "\"");
      }
    }
    throw foreign("its raw data holds something that is not a number");
  }

  /** Median of an iteration in JMH's sample mode: the first value that more than half reach. */
  private double histogramMedian() throws IOException {
    expectArray();
    TreeMap<Double, Long> counts = new TreeMap<>();
    while (in.nextToken() != JsonToken.END_ARRAY) {
      expectArray();
      in.nextToken();
      double value = number();
      in.nextToken();
      long count = (long) number();
      if (count < 0) {
        throw foreign("its histogram has the count " + count);
      }
      counts.merge(value, count, Long::sum);
      if (in.nextToken() != JsonToken.END_ARRAY) {
        throw foreign("its histogram is not made of values and counts");
      }
    }
    long half = counts.values().stream().mapToLong(Long::longValue).sum() / 2;
    long seen = 0;
    for (var entry : counts.entrySet()) {
      seen += entry.getValue();
      if (seen > half) {
        return entry.getKey();
      }
    }
    return Double.NaN;
  }
}
