package io.musabench.results.audit;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * What a column of an end-to-end table holds, found out from its header.
 *
 * <p>Latencies get a key of metric and statistic, {@code ttft_p99}; one without a statistic in its
 * name is a mean, as benchmark tools mean it. The unit is taken from the name; without one it is
 * milliseconds and a second.
 *
 * @param key name under which {@link EndToEndRow} knows it
 * @param scale factor from the column's unit to milliseconds, requests a second or tokens
 */
record Column(String key, double scale) {
  static final String LABEL = "config";
  static final String MODEL = "model";
  static final String DEVICE = "device";
  static final String MODE = "mode";
  static final String TP = "tp";
  static final String ISL = "isl";
  static final String OSL = "osl";
  static final String CONCURRENCY = "concurrency";
  static final String TTFT = "ttft";
  static final String TPOT = "tpot";
  static final String ITL = "itl";
  static final String E2E = "e2e";
  static final String MEAN = "_mean";
  static final String THROUGHPUT = "throughput_req_s";
  static final String OUTPUT_TOKENS = "output_tokens_per_s";
  static final String GOODPUT = "goodput_req_s";
  static final String GOODPUT_SHARE = "goodput_share";

  static final List<String> LATENCIES = List.of(TTFT, TPOT, ITL, E2E);

  /** Latencies that only services of language models have; a plain latency is of anything. */
  static final List<String> OF_SERVICES = List.of(TTFT, TPOT, ITL);

  /** Texts; every other column holds numbers. */
  static final Set<String> TEXTS = Set.of(LABEL, MODEL, DEVICE, MODE);

  /**
   * What says which service and requests a table is about. Not the concurrency: a ladder of
   * configurations of one service may have that column too.
   */
  static final Set<String> LOAD = Set.of(MODEL, TP, ISL, OSL);

  static Optional<Column> of(String header) {
    String lower = header.toLowerCase(Locale.ROOT).strip();
    List<String> words =
        Arrays.stream(lower.replace("tok/s", "tokens per s").split("[^a-z0-9.%]+"))
            .filter(w -> !w.isEmpty())
            .toList();
    String joined = String.join("_", words);
    Optional<Column> column = latency(words, joined);
    if (column.isEmpty()) {
      column = rate(words, joined);
    }
    return column.isEmpty() ? load(joined) : column;
  }

  private static Optional<Column> latency(List<String> words, String joined) {
    String metric;
    if (words.contains("ttft") || joined.contains("time_to_first_token")) {
      metric = TTFT;
    } else if (words.contains("tpot") || joined.contains("time_per_output_token")) {
      metric = TPOT;
    } else if (words.contains("itl") || joined.contains("inter_token_latency")) {
      metric = ITL;
    } else if (words.contains("e2e")
        || words.contains("e2el")
        || words.contains("latency")
        || joined.contains("end_to_end")) {
      metric = E2E;
    } else {
      return Optional.empty();
    }
    return Optional.of(new Column(metric + "_" + statistic(words), milliseconds(words)));
  }

  private static String statistic(List<String> words) {
    for (String word : words) {
      if (word.matches("p\\d{1,2}(\\.\\d+)?")) {
        return word;
      }
      if (word.matches("\\d{1,2}(\\.\\d+)?(th|%)")) {
        return "p" + word.replaceAll("th|%", "");
      }
      switch (word) {
        case "median" -> {
          return "p50";
        }
        case "std", "stddev", "min", "max" -> {
          return word;
        }
        default -> {}
      }
    }
    return "mean";
  }

  private static double milliseconds(List<String> words) {
    for (String word : words) {
      switch (word) {
        case "s", "sec", "secs", "second", "seconds" -> {
          return 1e3;
        }
        case "us", "microseconds" -> {
          return 1e-3;
        }
        case "ns", "nanoseconds" -> {
          return 1e-6;
        }
        default -> {}
      }
    }
    return 1;
  }

  private static Optional<Column> rate(List<String> words, String joined) {
    boolean throughput = words.contains("throughput");
    boolean tokens =
        Set.of("tok", "token", "tokens", "tps").stream().anyMatch(words::contains)
            || throughput && words.contains("output");
    if (joined.contains("goodput")) {
      boolean percent = words.contains("%") || words.contains("pct") || words.contains("percent");
      if (percent || words.contains("share") || words.contains("ratio")) {
        return Optional.of(new Column(GOODPUT_SHARE, percent ? 0.01 : 1));
      }
      return Optional.of(new Column(GOODPUT, perSecond(words)));
    }
    boolean rate =
        joined.contains("throughput")
            || throughput && words.contains("output")
            || Set.of("rps", "qps", "tps").stream().anyMatch(words::contains)
            || joined.matches("(req|reqs|requests|request)_(per_)?(s|sec|second)")
            || joined.matches("(output_)?(tok|tokens)_(per_)?(s|sec|second)");
    if (!rate) {
      return Optional.empty();
    }
    if (!tokens) {
      return Optional.of(new Column(THROUGHPUT, perSecond(words)));
    }
    // Rates of prompt tokens or of all tokens say nothing about the output.
    boolean output = !words.contains("input") && !words.contains("total");
    return output ? Optional.of(new Column(OUTPUT_TOKENS, perSecond(words))) : Optional.empty();
  }

  private static double perSecond(List<String> words) {
    return words.contains("min") || words.contains("minute") ? 1.0 / 60 : 1;
  }

  private static Optional<Column> load(String joined) {
    String key =
        switch (joined) {
          case "config", "configuration", "name", "label", "variant", "setup" -> LABEL;
          case "model", "model_id", "model_name" -> MODEL;
          case "system", "device", "gpu", "device_name", "gpu_model" -> DEVICE;
          case "mode", "launch_mode" -> MODE;
          case "tp", "tp_size", "tensor_parallel", "tensor_parallel_size" -> TP;
          case "isl", "input_tokens", "input_length", "input_len", "prompt_tokens", "input" -> ISL;
          case "osl", "output_tokens", "output_length", "output_len", "output" -> OSL;
          case "concurrency", "max_concurrency", "users", "clients" -> CONCURRENCY;
          default -> null;
        };
    return Optional.ofNullable(key).map(k -> new Column(k, 1));
  }
}
