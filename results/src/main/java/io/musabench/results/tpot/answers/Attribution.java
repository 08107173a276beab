package io.musabench.results.tpot.answers;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.musabench.results.Printable;
import io.musabench.results.model.BatchSpec;
import io.musabench.results.report.JsonText;
import io.musabench.results.report.TextTable;
import io.musabench.results.report.Units;
import io.musabench.results.run.CaseResult;
import io.musabench.results.run.Params;
import io.musabench.results.run.RunException;
import io.musabench.results.tpot.ClosedLoop;
import io.musabench.results.tpot.MeasuredSteps;
import io.musabench.results.tpot.Provenance;
import io.musabench.results.tpot.Workload;
import io.musabench.results.tpot.answers.RunSteps.Step;
import io.musabench.results.tpot.answers.RunSteps.Time;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which kernels, launches or gaps moved TPOT between two runs: the change of TPOT, split exactly
 * among the operations by {@link Shapley}.
 *
 * <p>A step takes the longer of its kernels' sum and of queueing it, and the gaps. TPOT is that of
 * the closed loop of as many requests as the decode step has, with the longest prefill that both
 * runs measured; an operation that runs in both phases is one term. What a step is faster than its
 * own kernels one by one is shown as unexplained.
 */
public final class Attribution {
  /** Raised when a field changes its meaning or goes away; new fields do not raise it. */
  public static final int SCHEMA_VERSION = 1;

  static final String LAUNCH = "launch";
  static final String GAPS = "gaps";

  /** Tokens of an answer in the closed loop, as in the report of a run. */
  private static final int OUTPUT_TOKENS = 256;

  /** What sums of so many terms lose, as a share of TPOT. */
  private static final double ROUNDING = 1e-12;

  /** 95 % of a normal distribution. */
  static final double DEVIATIONS = 1.96;

  private final String nameA;
  private final String nameB;
  private final List<Moved> moved = new ArrayList<>();

  /**
   * One term of the split; errors are half the width of 95 % intervals.
   *
   * @param name the operation, {@code launch} or {@code gaps}
   * @param aS its time in the decode step of A, in seconds
   * @param aErrorS its error
   * @param bS the same in B
   * @param bErrorS its error
   * @param shareS its share in the change of TPOT
   * @param errorS error of the share
   */
  public record Share(
      String name,
      double aS,
      double aErrorS,
      double bS,
      double bErrorS,
      double shareS,
      double errorS) {
    /** Whether the interval of the share excludes 0. */
    public boolean flagged() {
      return Math.abs(shareS) > errorS;
    }
  }

  /**
   * What moved one service; errors are half the width of 95 % intervals.
   *
   * @param caseA decode step of A
   * @param caseB the same in B
   * @param concurrency requests in flight
   * @param inputTokens tokens of the prefill; 0 if no prefill is in both runs, so that TPOT is the
   *     decode step
   * @param tpotA TPOT of A in seconds
   * @param tpotErrorA its error
   * @param tpotB TPOT of B
   * @param tpotErrorB its error
   * @param shares the terms, the largest first
   * @param unexplainedS what the terms leave of the change
   * @param unexplainedErrorS its error
   */
  public record Moved(
      String caseA,
      String caseB,
      int concurrency,
      int inputTokens,
      double tpotA,
      double tpotErrorA,
      double tpotB,
      double tpotErrorB,
      List<Share> shares,
      double unexplainedS,
      double unexplainedErrorS) {
    /** Error of the change: the runs know nothing of each other. */
    public double changeErrorS() {
      return Math.hypot(tpotErrorA, tpotErrorB);
    }

    /** Error of B over A, which is not that of the change over A: A is not known exactly. */
    public double ratioError() {
      return tpotB / tpotA * Math.hypot(tpotErrorA / tpotA, tpotErrorB / tpotB);
    }
  }

  /**
   * Compares two run directories.
   *
   * @throws RunException if one cannot be read, or no decode step with its kernels is in both
   */
  public Attribution(Path a, Path b) {
    RunSteps runA = new RunSteps(a);
    RunSteps runB = new RunSteps(b);
    nameA = runA.name();
    nameB = runB.name();
    for (CaseResult c : runA.cases()) {
      if (RunSteps.batch(c).isDecode()) {
        partner(c, runA, runB).ifPresent(d -> moved.add(moved(c, d, runA, runB)));
      }
    }
    if (moved.isEmpty()) {
      throw new RunException(
          "no decode step with its kernels is in both runs: "
              + nameA
              + " has "
              + decodes(runA)
              + ", "
              + nameB
              + " has "
              + decodes(runB)
              + "; measure the same step in both, as with `musabench run DecodeStep`");
    }
  }

  private static String decodes(RunSteps run) {
    List<String> ids =
        run.cases().stream().filter(c -> RunSteps.batch(c).isDecode()).map(CaseResult::id).toList();
    return ids.isEmpty() ? "none" : String.join(" and ", ids);
  }

  /** The same case, or, where the runs differ in the mode alone, the case of the other mode. */
  private static Optional<CaseResult> partner(CaseResult c, RunSteps own, RunSteps other) {
    Optional<CaseResult> same = other.find(c.id());
    if (same.isPresent()) {
      return same;
    }
    List<CaseResult> alike =
        other.cases().stream().filter(d -> withoutMode(d).equals(withoutMode(c))).toList();
    long own2 = own.cases().stream().filter(d -> withoutMode(d).equals(withoutMode(c))).count();
    return alike.size() == 1 && own2 == 1 ? Optional.of(alike.get(0)) : Optional.empty();
  }

  private static Map<String, String> withoutMode(CaseResult c) {
    Map<String, String> rest = new TreeMap<>(c.params());
    rest.remove(Params.MODE);
    rest.put("benchmark", c.benchmark());
    return rest;
  }

  private static Moved moved(CaseResult a, CaseResult b, RunSteps runA, RunSteps runB) {
    Pair decode = new Pair(runA.step(a), runB.step(b));
    Pair prefill = null;
    int input = 0;
    for (CaseResult p : runA.cases()) {
      BatchSpec batch = RunSteps.batch(p);
      boolean longer = batch.isPrefill() && batch.size() == 1 && batch.maxQ() > input;
      if (longer && sameService(p, a)) {
        Optional<CaseResult> q = partner(p, runA, runB);
        if (q.isPresent()) {
          prefill = new Pair(runA.step(p), runB.step(q.get()));
          input = batch.maxQ();
        }
      }
    }
    return new Split(a, b, decode, prefill, input).moved();
  }

  private static boolean sameService(CaseResult p, CaseResult d) {
    return List.of(Params.MODEL, Params.TP, Params.MODE).stream()
        .allMatch(name -> p.param(name).equals(d.param(name)));
  }

  /** A step in both runs. */
  private record Pair(Step a, Step b) {
    Time a(String name) {
      return of(a, name);
    }

    Time b(String name) {
      return of(b, name);
    }

    private static Time of(Step s, String name) {
      return switch (name) {
        case LAUNCH -> s.host();
        case GAPS -> s.gaps();
        default -> s.roles().getOrDefault(name, Time.NONE);
      };
    }

    Set<String> roles() {
      Set<String> all = new LinkedHashSet<>(a.roles().keySet());
      all.addAll(b.roles().keySet());
      return all;
    }
  }

  /** The split of one decode step. */
  private static final class Split {
    private final CaseResult caseA;
    private final CaseResult caseB;
    private final Pair decode;
    private final Pair prefill;
    private final int input;
    private final int requests;
    private final List<String> names;

    Split(CaseResult a, CaseResult b, Pair decode, Pair prefill, int input) {
      this.caseA = a;
      this.caseB = b;
      this.decode = decode;
      this.prefill = prefill;
      this.input = input;
      this.requests = RunSteps.batch(a).size();
      Set<String> all = new LinkedHashSet<>(decode.roles());
      if (prefill != null) {
        all.addAll(prefill.roles());
      }
      all.add(LAUNCH);
      all.add(GAPS);
      this.names = List.copyOf(all);
    }

    Moved moved() {
      double[] decodeSums = sums(decode);
      double[] prefillSums = prefill == null ? null : sums(prefill);
      int launch = 1 << names.indexOf(LAUNCH);
      int gaps = 1 << names.indexOf(GAPS);
      double[] shares =
          Shapley.split(
              names.size(),
              set ->
                  tpot(
                      step(decode, decodeSums[set], (set & launch) != 0, (set & gaps) != 0),
                      prefill == null
                          ? 0
                          : step(
                              prefill, prefillSums[set], (set & launch) != 0, (set & gaps) != 0)));
      double measuredA = tpot(latency(decode.a()), prefill == null ? 0 : latency(prefill.a()));
      double measuredB = tpot(latency(decode.b()), prefill == null ? 0 : latency(prefill.b()));
      double left = measuredB - measuredA;
      List<Share> found = new ArrayList<>();
      for (int i = 0; i < shares.length; i++) {
        String name = names.get(i);
        left -= shares[i];
        Time a = decode.a(name);
        Time b = decode.b(name);
        found.add(
            new Share(
                name,
                a.seconds(),
                DEVIATIONS * a.error(),
                b.seconds(),
                DEVIATIONS * b.error(),
                shares[i],
                error(name)));
      }
      if (Math.abs(left) < ROUNDING * Math.max(measuredA, measuredB)) {
        left = 0;
      }
      found.sort(Comparator.comparingDouble(s -> -Math.abs(s.shareS())));
      return new Moved(
          caseA.id(),
          caseB.id(),
          requests,
          input,
          measuredA,
          error(false),
          measuredB,
          error(true),
          found,
          left,
          // What a step is faster than its kernels is as uncertain as the gap that it would have.
          error(GAPS));
    }

    private static double latency(Step s) {
      return s.latency().seconds();
    }

    /** Kernel sums for every subset of terms that have changed. */
    private double[] sums(Pair pair) {
      double[] sums = new double[1 << names.size()];
      double[] change = new double[names.size()];
      for (int i = 0; i < change.length; i++) {
        String name = names.get(i);
        if (!name.equals(LAUNCH) && !name.equals(GAPS)) {
          sums[0] += pair.a(name).seconds();
          change[i] = pair.b(name).seconds() - pair.a(name).seconds();
        }
      }
      for (int set = 1; set < sums.length; set++) {
        int lowest = Integer.numberOfTrailingZeros(set);
        sums[set] = sums[set & set - 1] + change[lowest];
      }
      return sums;
    }

    private static double step(
        Pair pair, double kernels, boolean launchChanged, boolean gapsChanged) {
      double host = (launchChanged ? pair.b() : pair.a()).host().seconds();
      double gaps = (gapsChanged ? pair.b() : pair.a()).gaps().seconds();
      return Math.max(host, kernels) + gaps + pair.a().unexplained();
    }

    private double tpot(double decodeStep, double prefillStep) {
      if (prefill == null) {
        return decodeStep;
      }
      return ClosedLoop.predict(
              new MeasuredSteps(Map.of(requests, decodeStep), Map.of(input, prefillStep)),
              new Workload(requests, input, OUTPUT_TOKENS))
          .tpot()
          .value();
    }

    /** Half the interval of a term's share: its times' errors by what TPOT makes of them. */
    private double error(String name) {
      double squares = square(slope(name, decode, true) * error(decode, name));
      if (prefill != null) {
        squares += square(slope(name, prefill, false) * error(prefill, name));
      }
      return DEVIATIONS * Math.sqrt(squares);
    }

    /** Half the interval of a run's TPOT, by the errors of its whole steps. */
    private double error(boolean inB) {
      Step d = inB ? decode.b() : decode.a();
      double squares = square(slope(inB, true) * d.latency().error());
      if (prefill != null) {
        Step p = inB ? prefill.b() : prefill.a();
        squares += square(slope(inB, false) * p.latency().error());
      }
      return DEVIATIONS * Math.sqrt(squares);
    }

    private static double error(Pair pair, String name) {
      return Math.hypot(pair.a(name).error(), pair.b(name).error());
    }

    /** What a second more of a term does to TPOT; the larger of what it does in A and in B. */
    private double slope(String name, Pair pair, boolean decodes) {
      double most = 0;
      for (boolean inB : new boolean[] {false, true}) {
        Step s = inB ? pair.b() : pair.a();
        double kernels = s.latency().seconds() - s.gaps().seconds() - s.unexplained();
        boolean hostBound = s.host().seconds() >= kernels;
        boolean acts =
            switch (name) {
              case LAUNCH -> hostBound;
              case GAPS -> true;
              default -> !hostBound;
            };
        if (acts) {
          most = Math.max(most, slope(inB, decodes));
        }
      }
      return most;
    }

    /** What a second more of a whole step does to the TPOT of a run. */
    private double slope(boolean inB, boolean decodes) {
      double d = latency(inB ? decode.b() : decode.a());
      double p = prefill == null ? 0 : latency(inB ? prefill.b() : prefill.a());
      double h = 1e-4 * (decodes ? d : p);
      double moved = decodes ? tpot(d + h, p) : tpot(d, p + h);
      return (moved - tpot(d, p)) / h;
    }

    private static double square(double x) {
      return x * x;
    }
  }

  /** One entry a decode step that is in both runs. */
  public List<Moved> moved() {
    return List.copyOf(moved);
  }

  /** For a terminal. */
  public String text() {
    StringBuilder out = new StringBuilder("A ").append(Printable.line(nameA));
    out.append("\nB ").append(Printable.line(nameB)).append('\n');
    for (Moved m : moved) {
      out.append('\n').append(Printable.line(m.caseA()));
      if (!m.caseB().equals(m.caseA())) {
        out.append("\n  against ").append(Printable.line(m.caseB()));
      }
      out.append("\n  TPOT ").append(plusMinus(m.tpotA(), m.tpotErrorA())).append(" -> ");
      out.append(plusMinus(m.tpotB(), m.tpotErrorB())).append(" (");
      out.append(Units.change(100 * (m.tpotB() / m.tpotA() - 1))).append(" +- ");
      out.append(Units.percent(100 * m.ratioError())).append("), ");
      out.append(load(m)).append('\n');
      TextTable table =
          new TextTable("term", ">A", ">B", ">share of the change", ">95 % interval", "");
      for (Share s : m.shares()) {
        table.row(
            s.name(),
            plusMinus(s.aS(), s.aErrorS()),
            plusMinus(s.bS(), s.bErrorS()),
            PredictionReport.time(s.shareS()),
            interval(s.shareS(), s.errorS()),
            s.flagged() ? "<- moved" : "");
      }
      table.row(
          "unexplained",
          "",
          "",
          PredictionReport.time(m.unexplainedS()),
          interval(m.unexplainedS(), m.unexplainedErrorS()),
          "");
      out.append(table);
    }
    out.append("  moved: the interval excludes 0; all intervals 95 %, ")
        .append(ERRORS)
        .append('\n');
    out.append("  steps and kernels are measured; TPOT follows from the steps\n");
    return out.toString();
  }

  private static String plusMinus(double seconds, double errorS) {
    return PredictionReport.time(seconds) + " +- " + PredictionReport.time(errorS);
  }

  private static String interval(double seconds, double errorS) {
    return PredictionReport.time(seconds - errorS)
        + " to "
        + PredictionReport.time(seconds + errorS);
  }

  private static final String ERRORS =
      "errors from the medians of the forks, or 2 % where there is one fork";

  private static String load(Moved m) {
    return m.inputTokens() == 0
        ? "of the decode step alone: no prefill is in both runs"
        : "closed loop of "
            + m.concurrency()
            + " requests, "
            + m.inputTokens()
            + " tokens in, "
            + OUTPUT_TOKENS
            + " out";
  }

  /** As JSON. */
  public String json() {
    ObjectNode root = JsonText.root(SCHEMA_VERSION);
    root.put("run_a", nameA);
    root.put("run_b", nameB);
    root.put("errors", ERRORS);
    ArrayNode array = root.putArray("steps");
    for (Moved m : moved) {
      ObjectNode node = array.addObject();
      node.put("case_a", m.caseA());
      node.put("case_b", m.caseB());
      node.put("concurrency", m.concurrency());
      node.put("input_tokens", m.inputTokens());
      node.put("load", load(m));
      number(node, "tpot_a", true, m.tpotA(), m.tpotErrorA());
      number(node, "tpot_b", true, m.tpotB(), m.tpotErrorB());
      number(node, "tpot_delta", false, m.tpotB() - m.tpotA(), m.changeErrorS());
      node.put("provenance", Provenance.MEASURED.text());
      ArrayNode terms = node.putArray("terms");
      for (Share s : m.shares()) {
        ObjectNode term = terms.addObject();
        term.put("name", s.name());
        term.put(
            "kind",
            switch (s.name()) {
              case LAUNCH, GAPS -> s.name();
              default -> "kernel";
            });
        number(term, "a", true, s.aS(), s.aErrorS());
        number(term, "b", true, s.bS(), s.bErrorS());
        JsonText.number(term, "share_ms", 1e3 * s.shareS());
        JsonText.number(term, "low_ms", 1e3 * (s.shareS() - s.errorS()));
        JsonText.number(term, "high_ms", 1e3 * (s.shareS() + s.errorS()));
        term.put("flagged", s.flagged());
      }
      number(node, "unexplained", false, m.unexplainedS(), m.unexplainedErrorS());
    }
    return JsonText.print(root);
  }

  /**
   * A number of milliseconds with its interval.
   *
   * @param time whether it is a time and not a change of one
   */
  static void number(ObjectNode node, String name, boolean time, double seconds, double errorS) {
    JsonText.number(node, name + "_ms", 1e3 * seconds);
    // A time is not below 0 however little is known of it; a change is.
    double low = seconds - errorS;
    JsonText.number(node, name + "_low_ms", 1e3 * (time ? Math.max(0, low) : low));
    JsonText.number(node, name + "_high_ms", 1e3 * (seconds + errorS));
  }
}
