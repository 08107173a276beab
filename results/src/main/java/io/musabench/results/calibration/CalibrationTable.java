package io.musabench.results.calibration;

import io.musabench.results.compare.Verdict;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The published table: false alarms, power and undecided shares of our rules beside others', on the
 * same draws. Started by {@code scripts/calibrate}.
 */
public final class CalibrationTable {
  private static final int SAMPLES = 20;
  private static final long SEED = 20261129;
  private static final int TRIALS = 2000;
  private static final double[][] NOISE = {
    // between, within, drift, gusts
    {0.005, 0.005, 0, 0},
    {0.01, 0.005, 0, 0},
    {0.02, 0.01, 0, 0},
    {0.005, 0.005, 0.01, 0},
    {0.005, 0.005, 0, 0.05}
  };
  private static final Set<Rule> OURS = EnumSet.of(Rule.COMPARE, Rule.AB, Rule.AB_IN_TURNS);
  private static final int[] FORKS = {4, 5, 10, 20};
  private static final double[] CHANGES = {0, 0.02, 0.03};

  private CalibrationTable() {}

  /**
   * Prints the table as Markdown.
   *
   * @param arguments number of draws a row, 2000 if absent
   */
  public static void main(String[] arguments) {
    int trials = arguments.length > 0 ? Integer.parseInt(arguments[0]) : TRIALS;
    System.out.println(table(trials));
  }

  static String table(int trials) {
    StringBuilder out = new StringBuilder();
    out.append("Seed ").append(SEED).append(", ").append(trials).append(" draws a row, ");
    out.append(SAMPLES).append(" samples a fork. Per cent of draws called slower or faster;\n");
    out.append("for compare and ab also, behind the bar, the share left undecided.\n\n");
    List<String> header =
        new ArrayList<>(List.of("true change", "noise", "drift", "gusts", "forks"));
    for (Rule rule : Rule.values()) {
      header.add(rule.title());
    }
    row(out, header);
    row(out, header.stream().map(h -> "---:").toList());
    for (double change : CHANGES) {
      for (double[] noise : NOISE) {
        for (int forks : FORKS) {
          Noise model = new Noise(noise[0], noise[1], noise[2], noise[3], SAMPLES);
          Map<Rule, Scenario.Outcome> outcomes =
              new Scenario(model, forks, change, SEED).run(trials, Rule.values());
          List<String> cells = new ArrayList<>();
          cells.add(percent(change));
          cells.add(percent(noise[0]) + "/" + percent(noise[1]));
          cells.add(percent(noise[2]));
          cells.add(percent(noise[3]));
          cells.add(Integer.toString(forks));
          outcomes.forEach((rule, outcome) -> cells.add(cell(rule, outcome)));
          row(out, cells);
        }
      }
    }
    return out.toString();
  }

  private static void row(StringBuilder out, List<String> cells) {
    out.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }

  private static String cell(Rule rule, Scenario.Outcome outcome) {
    String changed = percent((double) outcome.changed() / outcome.trials());
    boolean ours = OURS.contains(rule);
    return ours ? changed + " / " + percent(outcome.share(Verdict.UNDECIDED)) : changed;
  }

  private static String percent(double fraction) {
    return String.format(Locale.ROOT, "%.1f", 100 * fraction);
  }
}
