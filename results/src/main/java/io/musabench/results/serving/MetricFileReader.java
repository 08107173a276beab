package io.musabench.results.serving;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/**
 * The aggregate JSON of GenAI-Perf and of AIPerf: one object a metric with its unit. AIPerf's first
 * generation wraps them in {@code records}; both tools call ITL what is TPOT in the course.
 */
final class MetricFileReader implements Reader {
  private final boolean aiperf;

  MetricFileReader(boolean aiperf) {
    this.aiperf = aiperf;
  }

  @Override
  public List<Run> read(Source source) throws IOException {
    Flat f = new Flat();
    try (InputStream in = source.open();
        JsonParser p = Json.parser(in)) {
      p.nextToken();
      Json.object(
          p,
          (name, q) -> {
            if (name.equals("records")) {
              // The first generation's wrapping.
              Json.object(
                  q,
                  (inner, r) -> {
                    f.put(inner, r);
                    return true;
                  });
            } else if (!name.equals("telemetry_data") && !name.equals("sessions")) {
              f.put(name, q);
            } else {
              return false;
            }
            return true;
          });
    }
    return List.of(run(f, new Run(aiperf ? "aiperf" : "genai-perf", source.name()), aiperf));
  }

  /** Fills a run from metrics by tag; also used for the CSV files, which hold the same. */
  static Run run(Flat f, Run run, boolean aiperf) throws ServingFormatException {
    Formula ttft = aiperf ? Formula.TTFT_FIRST_TOKEN : Formula.TTFT_FIRST_CONTENT;
    run.ttftClock = ttft;
    add(run, f, ttft, "time_to_first_token", "ttft");
    add(run, f, Formula.TTFO_FIRST_CONTENT, "time_to_first_output_token");
    add(run, f, Formula.TPOT, "inter_token_latency");
    add(run, f, Formula.ITL_CHUNK, "inter_chunk_latency");
    add(run, f, Formula.E2E_LAST_TOKEN, "request_latency");
    if (run.reported.isEmpty() && run.allZero.isEmpty()) {
      throw new ServingFormatException("none of its metrics is one of latency");
    }
    run.ok = f.count("request_count.avg");
    long failed = f.count("error_request_count.avg");
    long cancelled = 0;
    for (int i = 0; f.has("error_summary.[" + i + "]"); i++) {
      String type = f.text("error_summary.[" + i + "].error_details.type");
      if (type != null && type.contains("Cancel")) {
        cancelled += Math.max(0, f.count("error_summary.[" + i + "].count"));
      }
    }
    run.cancelled = failed >= 0 ? Math.min(cancelled, failed) : aiperf ? 0 : -1;
    run.errors = failed >= 0 ? failed - run.cancelled : aiperf ? 0 : -1;
    run.total = run.ok < 0 ? -1 : run.ok + Math.max(0, run.errors) + Math.max(0, run.cancelled);
    run.durationS = f.number("benchmark_duration.avg");
    run.requestsPerS = f.number("request_throughput.avg");
    run.outputTokensPerS = f.number("output_token_throughput.avg");
    double goodput = f.number("goodput.avg", "request_goodput.avg");
    // -1 is GenAI-Perf's word for an SLO that it did not understand.
    run.goodputPerS = goodput >= 0 ? goodput : Double.NaN;
    run.goodCount = f.number("good_request_count.avg");
    run.outputTokens = f.number("total_osl.avg", "total_output_sequence_length.avg");
    run.inputTokens = f.number("total_isl.avg", "total_input_sequence_length.avg");
    run.meanInput = f.number("input_sequence_length.avg", "num_input_token.avg");
    run.stdInput = f.number("input_sequence_length.std");
    run.meanOutput = f.number("output_sequence_length.avg", "num_output_token.avg");
    run.promptLengths = f.lengths("input_sequence_length");
    configuration(run, f);
    return run;
  }

  private static void configuration(Run run, Flat f) {
    run.toolVersion = f.text("aiperf_version", "genai_perf_version");
    // Older versions of GenAI-Perf have their options side by side, without sections.
    run.streaming = f.flag("input_config.endpoint.streaming");
    run.streaming = run.streaming == null ? f.flag("input_config.streaming") : run.streaming;
    run.label(
        "model",
        f.text(
            "input_config.endpoint.model_names.[0]",
            "input_config.model_names.[0]",
            "input_config.model.[0]",
            "input_config.formatted_model_name",
            "input_config.models.[0]"));
    run.askedOutput =
        f.number(
            "input_config.input.prompt.output_tokens.mean",
            "input_config.output.output_tokens.mean",
            "input_config.input.output_tokens.mean",
            "input_config.output_tokens_mean");
    run.askedOutput = run.askedOutput > 0 ? run.askedOutput : Double.NaN;
    run.askedInput =
        f.number(
            "input_config.input.prompt.input_tokens.mean",
            "input_config.input.synthetic_tokens.mean",
            "input_config.synthetic_input_tokens_mean");
    run.concurrencyLimit =
        f.number(
            "input_config.loadgen.concurrency",
            "input_config.phases.[0].concurrency",
            "input_config.perf_analyzer.stimulus.concurrency",
            "input_config.concurrency");
    run.requestRate =
        f.number(
            "input_config.loadgen.request_rate",
            "input_config.phases.[0].rate",
            "input_config.perf_analyzer.stimulus.request_rate",
            "input_config.request_rate");
    Slo slo =
        new Slo(
            limit(f, "time_to_first_token"),
            limit(f, "inter_token_latency"),
            limit(f, "request_latency"));
    run.slo = slo.stated() ? slo : null;
  }

  /** An SLO of the tool's own goodput, which versions keep in different places. */
  private static double limit(Flat f, String tag) {
    return f.number(
        "input_config.slos." + tag,
        "input_config.input.goodput." + tag,
        "input_config.goodput." + tag,
        "input_config.goodput_constraints." + tag);
  }

  private static void add(Run run, Flat f, Formula formula, String tag, String... older) {
    String found = tag;
    for (String o : older) {
      found = f.has(found) ? found : o;
    }
    String unit = f.text(found + ".unit");
    Reported r = f.statistics(formula, tag, found, AiperfRecordsReader.toMs(unit));
    run.add(r);
  }
}
