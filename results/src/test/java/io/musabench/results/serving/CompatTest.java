package io.musabench.results.serving;

import static io.musabench.results.serving.Fixtures.analyse;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * {@code --compat} against each tool's own arithmetic, written down here once more from its
 * definition, on one made-up load: some answers of one token, some failures, several tokens in some
 * chunks. Tools of which real files hold records and statistics side by side are in {@link
 * GoldenNumbersTest}.
 */
class CompatTest {
  /** Between the values: the last bit of a difference of times decides nothing. */
  private static final Slo SLO = Slo.of(150.5, 22.3);

  private static final double CLOSE = 1e-9;

  /** One request; times in seconds since its start. */
  private record Sent(double start, boolean failed, double[] chunks, int[] tokens, double end) {
    double ttft() {
      return chunks[0];
    }

    double last() {
      return chunks[chunks.length - 1];
    }

    int n() {
      return Arrays.stream(tokens).sum();
    }
  }

  private static List<Sent> load() {
    Random random = new Random(7);
    List<Sent> all = new ArrayList<>();
    for (int i = 0; i < 240; i++) {
      int n = i % 20 == 3 ? 1 : 2 + random.nextInt(30);
      double[] chunks = new double[n];
      int[] tokens = new int[n];
      double t = 0.05 + random.nextInt(200) / 1000.0;
      for (int k = 0; k < n; k++) {
        chunks[k] = t;
        tokens[k] = k > 0 && random.nextInt(6) == 0 ? 3 : 1;
        t += (10 + random.nextInt(25)) / 1000.0;
      }
      double end = chunks[n - 1] + (i % 3 == 0 ? 0.004 : 0);
      all.add(new Sent(100 + i * 0.03, i % 30 == 29, chunks, tokens, end));
    }
    return all;
  }

  private static List<Sent> answered() {
    return load().stream().filter(r -> !r.failed).toList();
  }

  private interface Value {
    double of(Sent r);
  }

  private static double[] values(Value v) {
    return answered().stream().mapToDouble(v::of).filter(x -> !Double.isNaN(x)).toArray();
  }

  /** Numpy's default percentile. */
  private static double linear(double[] values, double p) {
    double[] v = values.clone();
    Arrays.sort(v);
    double at = p / 100 * (v.length - 1);
    int below = (int) at;
    int above = Math.min(below + 1, v.length - 1);
    return v[below] + (v[above] - v[below]) * (at - below);
  }

  private static double mean(double[] values) {
    return Arrays.stream(values).sum() / values.length;
  }

  private static void same(Stat stat, double[] seconds) {
    assertThat(stat.count()).isEqualTo(seconds.length);
    double[][] pairs = {
      {stat.mean(), mean(seconds)},
      {stat.p50(), linear(seconds, 50)},
      {stat.p90(), linear(seconds, 90)},
      {stat.p99(), linear(seconds, 99)},
      {stat.max(), Arrays.stream(seconds).max().orElseThrow()}
    };
    for (double[] p : pairs) {
      assertThat(p[0]).isCloseTo(1000 * p[1], within(CLOSE * 1000));
      assertThat(String.format(Locale.ROOT, "%.2f", p[0]))
          .isEqualTo(String.format(Locale.ROOT, "%.2f", 1000 * p[1]));
    }
  }

  private static String join(List<String> parts) {
    return "[" + String.join(",", parts) + "]";
  }

  private static String benchServe(String head, boolean latencies) {
    List<String> in = new ArrayList<>();
    List<String> out = new ArrayList<>();
    List<String> ttfts = new ArrayList<>();
    List<String> itls = new ArrayList<>();
    List<String> errors = new ArrayList<>();
    List<String> ends = new ArrayList<>();
    for (Sent r : load()) {
      List<String> gaps = new ArrayList<>();
      for (int k = 1; k < r.chunks.length && !r.failed; k++) {
        gaps.add(Double.toString(r.chunks[k] - r.chunks[k - 1]));
      }
      in.add("12");
      out.add(r.failed ? "0" : Integer.toString(r.n()));
      ttfts.add(r.failed ? "0.0" : Double.toString(r.ttft()));
      itls.add(join(gaps));
      errors.add(r.failed ? "\"timeout\"" : "\"\"");
      ends.add(r.failed ? "0.0" : Double.toString(r.last()));
    }
    return "{"
        + head
        + ",\"duration\":8.0,\"completed\":232,\"request_throughput\":29.0,\"input_lens\":"
        + join(in)
        + ",\"output_lens\":"
        + join(out)
        + ",\"ttfts\":"
        + join(ttfts)
        + ",\"itls\":"
        + join(itls)
        + (latencies ? ",\"latencies\":" + join(ends) : "")
        + ",\"errors\":"
        + join(errors)
        + "}";
  }

  private static double[] gaps() {
    List<Double> all = new ArrayList<>();
    for (Sent r : answered()) {
      for (int k = 1; k < r.chunks.length; k++) {
        all.add(r.chunks[k] - r.chunks[k - 1]);
      }
    }
    return all.stream().mapToDouble(d -> d).toArray();
  }

  private static double tpot(Sent r) {
    return r.n() > 1 ? (r.last() - r.ttft()) / (r.n() - 1) : Double.NaN;
  }

  private static void benchServe(Summary s) {
    same(s.stat(Metric.TTFT), values(Sent::ttft));
    same(s.stat(Metric.TPOT), values(CompatTest::tpot));
    same(s.stat(Metric.ITL), gaps());
    same(s.stat(Metric.E2E), values(Sent::last));
    assertThat(s.durationS()).isEqualTo(8);
    assertThat(s.requestsPerS()).isEqualTo(29);
    int tokens = answered().stream().mapToInt(Sent::n).sum();
    assertThat(s.outputTokensPerS()).isCloseTo(tokens / 8.0, within(CLOSE));
  }

  @Test
  void vllm() {
    for (boolean latencies : new boolean[] {true, false}) {
      String file = benchServe("\"endpoint_type\":\"openai\"", latencies);
      Summary s = analyse(file, Compat.VLLM.definitions(), SLO);
      benchServe(s);
      // A single token's TPOT is 0 there and passes.
      long good =
          answered().stream().filter(r -> r.ttft() <= 0.1505 && !(tpot(r) > 0.0223)).count();
      assertThat(s.goodput().good()).isEqualTo(good);
      assertThat(s.goodput().considered()).isEqualTo(answered().size());
      assertThat(s.goodput().requestsPerS()).isCloseTo(good / 8.0, within(CLOSE));
    }
  }

  @Test
  void sglang() {
    String head =
        "\"backend\":\"sglang-oai\",\"dataset_name\":\"random\",\"mean_e2e_latency_ms\":1.0";
    benchServe(analyse(benchServe(head, false), Compat.SGLANG.definitions(), SLO));
  }

  @Test
  void inferencePerf() {
    List<String> rows = new ArrayList<>();
    for (Sent r : load()) {
      List<String> times = new ArrayList<>();
      for (int k = 0; k < r.chunks.length; k++) {
        for (int j = 0; j < r.tokens[k]; j++) {
          times.add(String.format(Locale.ROOT, "%.9f", r.start + r.chunks[k]));
        }
      }
      rows.add(
          String.format(
              Locale.ROOT,
              "{\"start_time\":%.9f,\"end_time\":%.9f,\"request\":\"p\",\"response\":\"x\",\"info\":{"
                  + "\"input_tokens\":12,\"output_tokens\":%d,\"output_token_times\":%s},\"error\":%s}",
              r.start,
              r.start + r.end,
              r.n(),
              join(times),
              r.failed ? "{\"error_type\":\"t\"}" : "null"));
    }
    Summary s = analyse(join(rows), Compat.INFERENCE_PERF.definitions(), SLO);
    // One token has no "streamable" times: neither TTFT nor TPOT.
    same(s.stat(Metric.TTFT), values(r -> r.n() > 1 ? r.ttft() : Double.NaN));
    same(s.stat(Metric.TPOT), values(CompatTest::tpot));
    same(s.stat(Metric.E2E), values(Sent::end));
    List<Double> itl = new ArrayList<>();
    for (Sent r : answered()) {
      for (int k = 0; k < r.chunks.length; k++) {
        if (k > 0) {
          itl.add(r.chunks[k] - r.chunks[k - 1]);
        }
        for (int j = 1; j < r.tokens[k]; j++) {
          itl.add(0.0);
        }
      }
    }
    same(s.stat(Metric.ITL), itl.stream().mapToDouble(d -> d).toArray());
    double first = load().get(0).start;
    double total = load().stream().mapToDouble(r -> r.start + r.end - first).max().orElseThrow();
    assertThat(s.requestsPerS()).isCloseTo(answered().size() / total, within(1e-6));
    long good =
        answered().stream()
            .filter(r -> r.n() > 1 && r.ttft() <= 0.1505 && tpot(r) <= 0.0223)
            .count();
    assertThat(s.goodput().good()).isEqualTo(good);
    assertThat(s.goodput().considered()).isEqualTo(answered().size());
  }

  /** Our own log of the same load: what any tool would have made of it. */
  private static String own() {
    StringBuilder file = new StringBuilder();
    for (Sent r : load()) {
      List<String> events = new ArrayList<>();
      for (int k = 0; k < r.chunks.length; k++) {
        events.add("[" + r.chunks[k] * 1000 + "," + r.tokens[k] + ",\"content\"]");
      }
      file.append(
          Fixtures.own(
              String.format(
                  Locale.ROOT,
                  "\"start_ns\":%d,\"end_ms\":%s,\"status\":\"%s\",\"output_tokens\":%d,\"events\":%s",
                  Math.round(r.start * 1e9),
                  r.end * 1000,
                  r.failed ? "error" : "ok",
                  r.n(),
                  join(events))));
    }
    return file.toString();
  }

  @Test
  void evalscope() {
    Summary s = analyse(own(), Compat.EVALSCOPE.definitions(), SLO);
    double[] tpots = values(r -> r.n() > 1 ? (r.end - r.ttft()) / (r.n() - 1) : 0);
    assertThat(s.stat(Metric.TPOT).count()).isEqualTo(tpots.length);
    assertThat(s.stat(Metric.TPOT).mean()).isCloseTo(1000 * mean(tpots), within(1e-6));
    assertThat(s.stat(Metric.TPOT).p99()).isEqualTo(indexed(tpots, 1000));
    assertThat(s.stat(Metric.TTFT).p99()).isEqualTo(indexed(values(Sent::ttft), 1000));
    assertThat(s.stat(Metric.ITL).p99()).isEqualTo(indexed(gaps(), 1000));
    assertThat(s.stat(Metric.E2E).p99()).isEqualTo(1000 * indexed(values(Sent::end), 1));
  }

  /** The value at index ⌊n·0.99⌋ in a unit of {@code scale} a second, to two decimals. */
  private static double indexed(double[] seconds, double scale) {
    double[] v = seconds.clone();
    Arrays.sort(v);
    return Math.round(v[(int) (v.length * 0.99)] * scale * 100) / 100.0;
  }

  @Test
  void genAiPerf() {
    StringBuilder requests = new StringBuilder();
    for (Sent r : load()) {
      long start = Math.round(r.start * 1e9);
      List<String> times = new ArrayList<>();
      List<String> outputs = new ArrayList<>();
      for (int k = 0; k < r.chunks.length && !r.failed; k++) {
        times.add(Long.toString(start + Math.round(r.chunks[k] * 1e9)));
        outputs.add(
            "{\"response\":" + Fixtures.quote("data: " + Fixtures.content("x") + "\n\n") + "}");
      }
      requests.append(requests.isEmpty() ? "" : ",");
      requests.append("{\"timestamp\":").append(start).append(",\"request_inputs\":{},");
      requests.append("\"response_timestamps\":").append(join(times));
      requests.append(",\"response_outputs\":").append(join(outputs)).append('}');
    }
    Summary s =
        analyse(
            "{\"experiments\":[{\"experiment\":{\"mode\":\"concurrency\",\"value\":8},\"requests\":["
                + requests
                + "]}],\"service_kind\":\"openai\",\"endpoint\":\"v1/chat/completions\"}",
            Compat.GENAI_PERF.definitions(),
            SLO);
    same(s.stat(Metric.TTFT), values(Sent::ttft));
    same(s.stat(Metric.E2E), values(Sent::last));
    // A token a chunk here; whole nanoseconds.
    Value itl =
        r ->
            r.chunks.length > 1
                ? Math.rint((r.last() - r.ttft()) * 1e9 / (r.chunks.length - 1)) / 1e9
                : Double.NaN;
    same(s.stat(Metric.ITL), values(itl));
    double[] ttfts = values(Sent::ttft);
    double[] itls = values(itl);
    long good = 0;
    for (int i = 0; i < itls.length; i++) {
      good += ttfts[i] <= 0.1505 && itls[i] <= 0.0223 ? 1 : 0;
    }
    assertThat(s.goodput().good()).isEqualTo(good);
    double first = load().get(0).start;
    double total =
        answered().stream().mapToDouble(r -> r.start + r.last() - first).max().orElseThrow();
    // Its rate counts the requests without an answer too.
    assertThat(s.requestsPerS()).isCloseTo(load().size() / total, within(1e-6));
  }
}
