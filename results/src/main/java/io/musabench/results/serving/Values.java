package io.musabench.results.serving;

/** The values of a run's answered requests under given definitions, in milliseconds. */
final class Values {
  private final RequestTable table;
  private final Definitions definitions;
  private final boolean toEnd;
  private final boolean notStreaming;

  /** Whether the tool whose numbers are wanted wrote the file: then its own values are taken. */
  private final boolean own;

  Values(Run run, Definitions definitions) {
    this.table = run.requests;
    this.definitions = definitions;
    this.own = own(run, definitions);
    // vLLM's own latency, where its file has it, runs on to the last event, even one without a
    // token.
    boolean wantsEnd =
        definitions.e2e() == Formula.E2E_LAST_BYTE || own && definitions.compat() == Compat.VLLM;
    boolean lastTokens = false;
    boolean onlyEnds = false;
    boolean ends = false;
    for (int i = 0; i < table.size(); i++) {
      if (table.ok(i)) {
        boolean last = !Double.isNaN(table.lastToken(i));
        boolean end = !Double.isNaN(table.end(i));
        lastTokens |= last;
        ends |= end;
        onlyEnds |= end && !last;
      }
    }
    // One population: if some rows only have an end, all are taken to their end.
    this.toEnd = wantsEnd ? ends : onlyEnds || !lastTokens;
    this.notStreaming = allAtOnce();
  }

  static boolean own(Run run, Definitions d) {
    return d.compat() != null && d.compat().id().equals(run.tool);
  }

  /** Output tokens, by the count that the definitions ask for. */
  int output(int i) {
    return own ? table.toolOutput(i) : table.output(i);
  }

  /** Whether every answer came in one piece: then its TTFT is its latency and means nothing. */
  private boolean allAtOnce() {
    boolean several = false;
    for (int i = 0; i < table.size(); i++) {
      if (!table.ok(i) || Double.isNaN(table.firstToken(i))) {
        continue;
      }
      double end = latency(i);
      if (Double.isNaN(end) || table.firstToken(i) < end * (1 - 1e-9)) {
        return false;
      }
      several |= table.output(i) > 1;
    }
    return several;
  }

  boolean notStreaming() {
    return notStreaming;
  }

  /** The formula that {@link #latency} really uses. */
  Formula latencyFormula() {
    return toEnd ? Formula.E2E_LAST_BYTE : Formula.E2E_LAST_TOKEN;
  }

  double latency(int i) {
    return toEnd ? table.lastSign(i) : table.lastToken(i);
  }

  double ttft(int i) {
    if (notStreaming) {
      return Double.NaN;
    }
    boolean oneTime = table.chunks(i) == 1 && output(i) <= 1;
    if (definitions.compat() == Compat.INFERENCE_PERF && oneTime) {
      return Double.NaN;
    }
    return switch (definitions.ttft()) {
      case TTFT_FIRST_ANY -> table.firstAny(i);
      case TTFT_FIRST_CONTENT -> table.firstContent(i);
      default -> table.firstToken(i);
    };
  }

  /** Whether the request has no TPOT because one token has no next. */
  boolean single(int i) {
    return output(i) == 1;
  }

  double tpot(int i) {
    Compat compat = definitions.compat();
    if (compat == Compat.EVALSCOPE && single(i)) {
      return 0;
    }
    if (own && !Double.isNaN(table.toolTpot(i)) && !notStreaming) {
      return table.toolTpot(i);
    }
    int n = output(i);
    boolean inclFirst = definitions.tpot() == Formula.TPOT_INCL_FIRST;
    if (n < 1 || n == 1 && !inclFirst) {
      return Double.NaN;
    }
    if (inclFirst) {
      return latency(i) / n;
    }
    if (definitions.tpot() == Formula.TPOT_OVER_N) {
      return (latency(i) - ttft(i)) / n;
    }
    double value =
        compat == Compat.INFERENCE_PERF
            ? (table.lastToken(i) - table.firstToken(i)) / (n - 1)
            : requestMean(i);
    return compat == null ? value : compat.roundTpot(value);
  }

  /** What goodput holds against the limit on TPOT: GuideLLM's own TPOT is not what it judges by. */
  double judgedTpot(int i) {
    return definitions.compat() == Compat.GUIDELLM ? itl(i) : tpot(i);
  }

  private double requestMean(int i) {
    int n = output(i);
    // A tool that knows nothing of chunks divides by n - 1.
    int first = definitions.compat() == null ? table.firstChunkTokens(i) : 1;
    return n > first ? (latency(i) - ttft(i)) / (n - first) : Double.NaN;
  }

  /** ITL under a formula that gives one value a request. */
  double itl(int i) {
    Compat compat = definitions.compat();
    if (definitions.itl() == Formula.ITL_INCL_FIRST) {
      double stated = own ? table.toolItl(i) : Double.NaN;
      int n = output(i);
      return !Double.isNaN(stated) ? stated : n > 0 ? table.lastSign(i) / n : Double.NaN;
    }
    if (compat == Compat.GUIDELLM) {
      double stated = own ? table.toolItl(i) : Double.NaN;
      double computed =
          output(i) > 1 ? (table.lastToken(i) - ttft(i)) / (output(i) - 1) : Double.NaN;
      return Double.isNaN(stated) ? computed : stated;
    }
    if (own && compat == Compat.AIPERF && !Double.isNaN(table.toolTpot(i))) {
      return table.toolTpot(i);
    }
    double value = output(i) > 1 ? requestMean(i) : Double.NaN;
    return compat == null ? value : compat.roundTpot(value);
  }
}
