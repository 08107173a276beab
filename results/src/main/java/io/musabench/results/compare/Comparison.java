package io.musabench.results.compare;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A candidate run held against a base run.
 *
 * @param base the run to hold against
 * @param candidate the run that is judged
 * @param options what was asked for
 * @param rows the cases in the order of the base, new ones last
 */
public record Comparison(
    MeasuredRun base, MeasuredRun candidate, Options options, List<CaseComparison> rows) {

  /** The library that a comparison is usually about. */
  public static final String UNDER_TEST = "library.kernels";

  /** What the process returns. */
  public static final int FINE = 0;

  /** A case is slower or missing. */
  public static final int REGRESSION = 1;

  /** Strict, and a case is undecided or its clock fell. */
  public static final int UNDECIDED = 2;

  /** A case could not be compared, or none could. */
  public static final int NOT_COMPARABLE = 3;

  /**
   * What to judge by.
   *
   * @param judge chance of a false alarm
   * @param least the least tolerance, as a fraction
   * @param noise noise floors of cases by id, as fractions; may be empty
   * @param accepted names of conditions that may differ
   * @param strict whether being undecided is a failure
   * @param paired whether fork i of one run was measured next to fork i of the other; whatever
   *     differs is then what is compared, so all conditions are accepted
   */
  public record Options(
      Judge judge,
      double least,
      Map<String, Double> noise,
      Set<String> accepted,
      boolean strict,
      boolean paired) {
    /** The usual ones. */
    public static final Options DEFAULT =
        new Options(new Judge(), Tolerance.LEAST, Map.of(), Set.of(UNDER_TEST), false, false);

    /** Copies the collections. */
    public Options {
      noise = Map.copyOf(noise);
      accepted = Set.copyOf(accepted);
    }
  }

  /** Copies the rows. */
  public Comparison {
    rows = List.copyOf(rows);
  }

  /** Compares two runs. */
  public static Comparison of(MeasuredRun base, MeasuredRun candidate, Options options) {
    List<CaseComparison> rows = new ArrayList<>();
    Set<String> ids = new LinkedHashSet<>(base.cases().keySet());
    ids.addAll(candidate.cases().keySet());
    List<CaseComparison> judged = new ArrayList<>();
    for (String id : ids) {
      CaseComparison row = unjudged(base.cases().get(id), candidate.cases().get(id), options);
      rows.add(row);
      if (row.verdict().judged()) {
        judged.add(row);
      }
    }
    List<Judge.Question> questions = judged.stream().map(row -> question(row, options)).toList();
    List<Judge.Answer> answers = options.judge().judge(questions);
    Map<String, CaseComparison> verdicts = new TreeMap<>();
    for (int i = 0; i < answers.size(); i++) {
      CaseComparison row = judged.get(i);
      verdicts.put(row.id(), row(row, questions.get(i), answers.get(i), options.paired()));
    }
    rows.replaceAll(row -> verdicts.getOrDefault(row.id(), row));
    return new Comparison(base, candidate, options, rows);
  }

  /** What can be said before any statistics; UNDECIDED stands for what has to be judged. */
  private static CaseComparison unjudged(
      MeasuredCase base, MeasuredCase candidate, Options options) {
    if (base == null) {
      return CaseComparison.unjudged(Verdict.NEW, base, candidate, candidate.failure());
    }
    if (candidate == null) {
      return base.failure().isEmpty()
          ? CaseComparison.unjudged(Verdict.MISSING, base, candidate, "not in the candidate")
          : CaseComparison.unjudged(Verdict.NEW, base, candidate, "in neither run");
    }
    if (!base.failure().isEmpty()) {
      String reason =
          candidate.failure().isEmpty()
              ? "the base has no number, " + base.failure()
              : "neither run has a number, " + candidate.failure();
      return CaseComparison.unjudged(
          withoutBase(candidate, options.paired()), base, candidate, reason);
    }
    if (!candidate.failure().isEmpty()) {
      return CaseComparison.unjudged(Verdict.MISSING, base, candidate, candidate.failure());
    }
    String problem = problem(base, candidate, options);
    Verdict verdict = problem.isEmpty() ? Verdict.UNDECIDED : Verdict.NOT_COMPARABLE;
    return CaseComparison.unjudged(verdict, base, candidate, problem);
  }

  /**
   * What a case is whose base has no number. A run may have failed where the next one works; of two
   * settings that were measured together both were meant to work.
   */
  private static Verdict withoutBase(MeasuredCase candidate, boolean paired) {
    if (!paired) {
      return Verdict.NEW;
    }
    return candidate.failure().isEmpty() ? Verdict.NOT_COMPARABLE : Verdict.MISSING;
  }

  private static String problem(MeasuredCase base, MeasuredCase candidate, Options options) {
    if (!base.problem().isEmpty()) {
      return "base: " + base.problem();
    }
    if (!candidate.problem().isEmpty()) {
      return "candidate: " + candidate.problem();
    }
    List<String> differences = differences(base, candidate, options);
    if (!differences.isEmpty()) {
      return String.join("; ", differences);
    }
    if (options.paired() && base.forks().size() != candidate.forks().size()) {
      return "%d forks against %d are no pairs"
          .formatted(base.forks().size(), candidate.forks().size());
    }
    int forks = Math.min(base.forks().size(), candidate.forks().size());
    if (forks < Judge.LEAST_FORKS) {
      String side = candidate.forks().size() == forks ? "candidate" : "base";
      return "the %s has %d fork%s, a verdict needs %d"
          .formatted(side, forks, forks == 1 ? "" : "s", Judge.LEAST_FORKS);
    }
    return "";
  }

  private static List<String> differences(
      MeasuredCase base, MeasuredCase candidate, Options options) {
    List<String> differences = new ArrayList<>();
    if (!base.unit().equals(candidate.unit())) {
      differences.add("unit: %s against %s".formatted(base.unit(), candidate.unit()));
    }
    if (options.paired()) {
      return differences;
    }
    Set<String> names = new TreeSet<>(base.conditions().keySet());
    names.addAll(candidate.conditions().keySet());
    names.removeAll(options.accepted());
    for (String name : names) {
      String a = base.conditions().getOrDefault(name, "not set");
      String b = candidate.conditions().getOrDefault(name, "not set");
      if (!a.equals(b)) {
        differences.add("%s: %s against %s".formatted(name, a, b));
      }
    }
    return differences;
  }

  private static Judge.Question question(CaseComparison row, Options options) {
    double noise = options.noise().getOrDefault(row.id(), Double.NaN);
    double resolution = Math.max(row.base().resolution(), row.candidate().resolution());
    return new Judge.Question(
        ratio(row.base().forks(), row.candidate().forks(), options.paired()),
        Tolerance.of(options.least(), noise, resolution));
  }

  private static LogRatio ratio(List<ForkMedian> base, List<ForkMedian> candidate, boolean paired) {
    return paired ? Pairs.of(base, candidate).ratio() : LogRatio.ofForks(base, candidate);
  }

  private static CaseComparison row(
      CaseComparison row, Judge.Question question, Judge.Answer answer, boolean paired) {
    return new CaseComparison(
        row.id(),
        answer.verdict(),
        row.base(),
        row.candidate(),
        question.ratio(),
        question.tolerance(),
        answer.p(),
        answer.moreForks(),
        answer.verdict() == Verdict.SLOWER && sameInCycles(row, question.tolerance(), paired),
        "");
  }

  /**
   * Whether a slowdown vanishes when time is counted in cycles of the clock that the device had.
   * Cycles follow the clock only where the code is bound by it, so this is asked only after a
   * slowdown in time. It excuses a regression, so it must be shown, as SAME must: a clock that
   * jumps about would excuse anything.
   */
  private static boolean sameInCycles(CaseComparison row, Tolerance tolerance, boolean paired) {
    if (row.base().clocks().isEmpty() || row.candidate().clocks().isEmpty()) {
      return false;
    }
    LogRatio cycles = ratio(cycles(row.base()), cycles(row.candidate()), paired);
    return Judge.same(cycles, tolerance.log());
  }

  private static List<ForkMedian> cycles(MeasuredCase c) {
    List<ForkMedian> cycles = new ArrayList<>();
    for (int fork = 0; fork < c.forks().size(); fork++) {
      cycles.add(c.forks().get(fork).times(c.clocks().get(fork)));
    }
    return cycles;
  }

  /** Number of rows with a verdict. */
  public long count(Verdict verdict) {
    return rows.stream().filter(row -> row.verdict() == verdict).count();
  }

  /** Geometric mean of the ratios of the judged cases, each as one; NaN if there is none. */
  public double geometricMean() {
    return Math.exp(
        rows.stream()
            .filter(row -> row.ratio() != null)
            .mapToDouble(row -> row.ratio().value())
            .average()
            .orElse(Double.NaN));
  }

  /**
   * Code for the process: a regression outweighs what could not be compared, because it is certain
   * whatever the rest would have said.
   */
  public int exitCode() {
    if (rows.stream().anyMatch(CaseComparison::regression)) {
      return REGRESSION;
    }
    if (count(Verdict.NOT_COMPARABLE) > 0 || rows.stream().noneMatch(r -> r.verdict().judged())) {
      return NOT_COMPARABLE;
    }
    boolean open = rows.stream().anyMatch(r -> r.verdict() == Verdict.UNDECIDED || r.clockEffect());
    return open && options.strict() ? UNDECIDED : FINE;
  }
}
