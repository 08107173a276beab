package io.musabench.results.tpot;

import io.musabench.results.model.BatchSpec;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The steps of a model once more with other kernel times, without looking a kernel up again.
 * Remembers every step that was asked for.
 *
 * <p>A move is the number of standard deviations by which each cause of error is off; {@link #NONE}
 * and {@link #ROOFS} are special.
 */
final class MovedSteps {
  /** Every kernel as predicted. */
  static final double[] NONE = {};

  /** Every kernel as fast as the roofs allow. */
  static final double[] ROOFS = {};

  /**
   * Calls of operations.
   *
   * @param roofs the least time of each, at most its time; that of a scaled kernel is scaled too
   * @param errors of each, by cause
   */
  private record Calls(List<Term> terms, double[] roofs, double[][] errors) {
    double seconds(double[] move) {
      double sum = 0;
      for (int i = 0; i < roofs.length; i++) {
        Term t = terms.get(i);
        sum += t.count() * (move == ROOFS ? roofs[i] : seconds(t, i, move));
      }
      return sum;
    }

    private double seconds(Term t, int i, double[] move) {
      double error = 0;
      for (int c = 0; c < move.length; c++) {
        error += move[c] * errors[i][c];
      }
      double seconds = t.time().seconds();
      return error == 0 ? seconds : Math.max(roofs[i], seconds * (1 + error));
    }
  }

  private record Known(StepTime step, Calls calls) {}

  private final StepModel model;
  private final List<Intervals.Cause> causes;
  private final Map<BatchSpec, Known> known = new HashMap<>();

  MovedSteps(StepModel model, List<Intervals.Cause> causes) {
    this.model = model;
    this.causes = causes;
  }

  /** The model with moved times; what its steps say of their operations stays as it was. */
  StepModel model(double[] move) {
    return model.answering(batch -> step(batch, move));
  }

  /** Time of all calls of an operation. */
  double seconds(Term term, double[] move) {
    return calls(List.of(term)).seconds(move);
  }

  private StepTime step(BatchSpec batch, double[] move) {
    Known k = known.get(batch);
    if (k == null) {
      StepTime step = model.step(batch);
      k = new Known(step, calls(step.terms()));
      known.put(batch, k);
    }
    return move == NONE ? k.step() : k.step().withKernelSeconds(k.calls().seconds(move));
  }

  private Calls calls(List<Term> terms) {
    double[] roofs = new double[terms.size()];
    double[][] errors = new double[terms.size()][causes.size()];
    for (int i = 0; i < roofs.length; i++) {
      Term t = terms.get(i);
      double roof = model.roof(t) * model.factor(t);
      roofs[i] = Double.isNaN(roof) ? 0 : Math.min(roof, t.time().seconds());
      for (int c = 0; c < errors[i].length; c++) {
        errors[i][c] = causes.get(c).error(model, t);
      }
    }
    return new Calls(terms, roofs, errors);
  }
}
