package io.musabench.results.serving;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What one run of a serving benchmark left in its files, brought to one form but not yet judged:
 * requests where the file has them, the tool's own statistics where it has those. {@code NaN}, -1
 * and null are "the file does not say".
 */
public final class Run {
  final String tool;
  String source;
  String toolVersion;

  /** Requests, or null if the file holds only statistics. */
  RequestTable requests;

  final List<Reported> reported = new ArrayList<>();

  /**
   * The clock point of the file's TTFT, where the file gives a TTFT and not the events themselves.
   */
  Formula ttftClock;

  /** What the file's gaps between tokens are: of chunks, or already spread over their tokens. */
  Formula gapFormula = Formula.ITL_CHUNK;

  /** What the tool itself calls TPOT, where its definition changed between versions. */
  Formula toolTpot;

  /** The window that the tool measured in, where it leaves out warm-up and cool-down. */
  long measuredFromNs = Request.NO_START;

  long measuredToNs = Request.NO_START;

  /** The events of the file say whether they are reasoning or answer. */
  boolean tellsReasoning;

  /** The file says what was asked for and nothing of what came. */
  boolean argumentsOnly;

  /** Metrics of which the file states nothing but zeros. */
  final List<String> allZero = new ArrayList<>();

  /** Metrics with statistics below zero or infinite, which were left out. */
  final List<String> impossible = new ArrayList<>();

  long total = -1;
  long ok = -1;
  long errors = -1;
  long cancelled = -1;
  long cut = -1;
  double durationS = Double.NaN;
  double requestsPerS = Double.NaN;
  double outputTokensPerS = Double.NaN;
  double peakOutputTokensPerS = Double.NaN;
  double peakConcurrency = Double.NaN;
  double meanConcurrency = Double.NaN;
  double goodputPerS = Double.NaN;
  double goodCount = Double.NaN;

  /** Of how many; the answered ones where the file says nothing. */
  double judgedCount = Double.NaN;

  double inputTokens = Double.NaN;
  double outputTokens = Double.NaN;
  double meanInput = Double.NaN;
  double stdInput = Double.NaN;
  double meanOutput = Double.NaN;

  /** Minimum, maximum and percentiles of the prompt lengths in tokens, or null. */
  Tokens promptLengths;

  double askedInput = Double.NaN;
  double askedOutput = Double.NaN;
  double concurrencyLimit = Double.NaN;
  double requestRate = Double.NaN;
  double scheduleDelayMeanS = Double.NaN;
  double scheduleDelayP99S = Double.NaN;
  double acceptLength = Double.NaN;
  Boolean streaming;
  Slo slo;

  /** Records of a line-by-line file that could not be read. */
  long unreadable;

  final Map<String, String> labels = new LinkedHashMap<>();

  /** Lines for the reader of the report: what was left out, and why. */
  final List<String> notes = new ArrayList<>();

  /** Some statistics of a length in tokens; NaN where unknown. */
  record Tokens(double min, double p25, double p75, double max) {}

  Run(String tool, String source) {
    this.tool = tool;
    this.source = source;
  }

  /** The tool that wrote the file. */
  public String tool() {
    return tool;
  }

  /** The file, and which part of it where it holds several runs. */
  public String source() {
    return source;
  }

  /** Whether the file holds single requests, so that any formula can be computed. */
  public boolean hasRequests() {
    return requests != null;
  }

  RequestTable table() {
    if (requests == null) {
      requests = new RequestTable();
    }
    return requests;
  }

  void label(String key, String value) {
    if (value != null && !value.isBlank() && !value.equals("null")) {
      labels.putIfAbsent(key, value.length() > 200 ? value.substring(0, 200) : value);
    }
  }

  /** Takes over statistics; nothing but zeros means that nothing was measured. */
  void add(Reported statistics) {
    if (statistics.impossible > 0) {
      impossible.add(statistics.called);
    }
    if (statistics.allZero()) {
      allZero.add(statistics.called);
    } else if (!statistics.empty()) {
      reported.add(statistics);
    }
  }

  /** The tool's statistics of a metric, those comparable with the default definition first. */
  Reported reported(Metric metric) {
    Reported found = null;
    for (Reported r : reported) {
      if (r.formula.metric() == metric && (found == null || better(r, found))) {
        found = r;
      }
    }
    return found;
  }

  private static boolean better(Reported a, Reported b) {
    return a.formula.comparable() && !b.formula.comparable();
  }
}
