package io.musabench.results.serving;

import static io.musabench.results.serving.Check.Verdict.FAIL;
import static io.musabench.results.serving.Check.Verdict.PASS;
import static io.musabench.results.serving.Check.Verdict.UNKNOWN;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The six things that the course asks for before a number may be believed. */
final class Checklist {
  private static final double ENOUGH_SECONDS = 300;
  private static final long ENOUGH_REQUESTS = 1000;
  private static final double NEAR = 0.10;

  private Checklist() {}

  static List<Check> of(Summary s, List<Summary> all) {
    List<Check> checks = new ArrayList<>();
    checks.add(streaming(s));
    checks.add(size(s));
    checks.add(bothLoads(all));
    checks.add(slo(s));
    checks.add(versions(s));
    checks.add(lengths(s));
    return checks;
  }

  private static Check streaming(Summary s) {
    String id = "streaming";
    if (s.notStreaming) {
      return new Check(id, FAIL, "TTFT equals the latency in every request: not streaming");
    }
    if (Boolean.FALSE.equals(s.run.streaming)) {
      return new Check(id, FAIL, "the file says that streaming was off");
    }
    if (s.run.requests != null) {
      for (int i = 0; i < s.run.requests.size(); i++) {
        if (s.run.requests.ok(i) && s.run.requests.chunks(i) > 1) {
          return new Check(id, PASS, "answers came in several chunks");
        }
      }
    }
    if (Boolean.TRUE.equals(s.run.streaming)) {
      return new Check(id, PASS, "the tool streams, or the file says so");
    }
    Stat ttft = s.stat(Metric.TTFT);
    Stat e2e = s.stat(Metric.E2E);
    if (ttft.mean < 0.99 * e2e.mean) {
      return new Check(id, PASS, "TTFT is shorter than the latency");
    }
    return new Check(id, UNKNOWN, "the file does not say whether answers were streamed");
  }

  private static Check size(Summary s) {
    String id = "duration_and_count";
    if (Double.isNaN(s.durationS) && s.ok < 0) {
      return new Check(id, UNKNOWN, "neither duration nor number of requests known");
    }
    boolean longEnough = s.durationS >= ENOUGH_SECONDS;
    boolean manyEnough = s.ok >= ENOUGH_REQUESTS;
    String reason =
        String.format(
            Locale.ROOT,
            "%s and %s; \"5 minutes or 1000 requests\": %s, \"5 minutes and 1000 requests\": %s",
            Double.isNaN(s.durationS)
                ? "unknown duration"
                : String.format(Locale.ROOT, "%.2f s of 300", s.durationS),
            s.ok < 0 ? "unknown count" : s.ok + " answered requests of 1000",
            longEnough || manyEnough ? "pass" : "fail",
            longEnough && manyEnough ? "pass" : "fail");
    boolean unknown = !longEnough && !manyEnough && (Double.isNaN(s.durationS) || s.ok < 0);
    return new Check(id, longEnough || manyEnough ? PASS : unknown ? UNKNOWN : FAIL, reason);
  }

  private static Check bothLoads(List<Summary> all) {
    boolean prefill = false;
    boolean decode = false;
    boolean known = false;
    for (Summary s : all) {
      prefill |= near(s.meanInput, 4096) && near(s.meanOutput, 64);
      decode |= near(s.meanInput, 256) && near(s.meanOutput, 2048);
      known |= !Double.isNaN(s.meanInput + s.meanOutput);
    }
    String reason =
        "prefill-heavy run (4096 in, 64 out, ±10 %) "
            + (prefill ? "present" : "absent")
            + ", decode-heavy run (256 in, 2048 out) "
            + (decode ? "present" : "absent")
            + " among "
            + all.size()
            + (all.size() == 1 ? " run" : " runs");
    return new Check(
        "prefill_and_decode_runs", prefill && decode ? PASS : known ? FAIL : UNKNOWN, reason);
  }

  private static boolean near(double value, double target) {
    return Math.abs(value - target) <= NEAR * target;
  }

  private static Check slo(Summary s) {
    Slo slo = s.goodput.slo();
    if (!slo.stated()) {
      boolean unstated = !Double.isNaN(s.run.goodputPerS);
      return new Check(
          "slo_stated",
          FAIL,
          unstated
              ? "the file has a goodput but not the limits behind it"
              : "no limit given and none in the file");
    }
    String from = slo.equals(s.run.slo) ? ", as the file says" : "";
    return new Check("slo_stated", PASS, Text.slo(slo) + from);
  }

  private static Check versions(Summary s) {
    Map<String, String[]> wanted = new LinkedHashMap<>();
    wanted.put("musa_sdk", new String[] {"musasdk", "musa", "musasdkversion", "sdk"});
    wanted.put("torch_musa", new String[] {"torchmusa", "torchmusaversion"});
    wanted.put("vllm_musa", new String[] {"vllmmusa", "vllmmusacommit", "vllmcommit"});
    wanted.put("gpu", new String[] {"gpu", "gpumodel", "device", "devicename"});
    List<String> missing = new ArrayList<>();
    wanted.forEach(
        (name, spellings) -> {
          boolean stated =
              s.labels.keySet().stream()
                  .map(k -> k.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", ""))
                  .anyMatch(List.of(spellings)::contains);
          if (!stated) {
            missing.add(name);
          }
        });
    return missing.isEmpty()
        ? new Check("versions_stated", PASS, "MUSA SDK, torch_musa, vllm-musa and GPU are stated")
        : new Check(
            "versions_stated",
            FAIL,
            "not stated: "
                + String.join(", ", missing)
                + " (give --label "
                + missing.get(0)
                + "=…)");
  }

  private static Check lengths(Summary s) {
    String id = "prompt_lengths_not_mixed";
    double spread = s.stdInput / s.meanInput;
    if (Double.isNaN(spread)) {
      return fromBounds(s, id);
    }
    String reason =
        String.format(
            Locale.ROOT,
            "prompts of %.0f tokens, spread %.1f %% (limit %.0f %%)",
            s.meanInput,
            100 * spread,
            100 * Analysis.MIXED);
    return spread <= Analysis.MIXED
        ? new Check(id, PASS, reason)
        : new Check(
            id,
            FAIL,
            reason
                + (s.byLength.isEmpty()
                    ? ": one average over different lengths"
                    : ": read the table by length"));
  }

  /**
   * What minimum, maximum and quartiles say of a spread that the file does not state: a standard
   * deviation is at most half the range, and at least (p75 - p25) / √8, since a quarter of the
   * values lie on either side.
   */
  private static Check fromBounds(Summary s, String id) {
    Run.Tokens t = s.run.promptLengths;
    double most = t == null ? Double.NaN : (t.max() - t.min()) / 2 / s.meanInput;
    double least = t == null ? Double.NaN : (t.p75() - t.p25()) / Math.sqrt(8) / s.meanInput;
    if (most <= Analysis.MIXED) {
      return new Check(id, PASS, "prompts of " + range(t) + " tokens");
    }
    if (least > Analysis.MIXED) {
      String reason = "prompts of " + range(t) + " tokens: one average over different lengths";
      return new Check(id, FAIL, reason);
    }
    return new Check(id, UNKNOWN, "the spread of the prompt lengths is not in the file");
  }

  private static String range(Run.Tokens t) {
    return Text.number(t.min()) + " to " + Text.number(t.max());
  }
}
