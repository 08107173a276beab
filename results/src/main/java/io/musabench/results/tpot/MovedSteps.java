package io.musabench.results.tpot;

import io.musabench.results.model.BatchSpec;
import io.musabench.results.model.ModelOperations;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The steps of a model once more with other kernel times, without looking a kernel up again.
 * Remembers every step that was asked for, so it is for one prediction and one thread.
 */
final class MovedSteps {
  /** Another time for an operation. */
  @FunctionalInterface
  interface Move {
    /** As it is. */
    Move NONE = (role, seconds, error, roof) -> seconds;

    /** As fast as the roofs allow. */
    Move ROOF = (role, seconds, error, roof) -> roof;

    /**
     * Time of one call.
     *
     * @param error one standard deviation over the time
     * @param roof the least time that it can take, at most {@code seconds}
     */
    double seconds(String role, double seconds, double error, double roof);

    /** One operation is off by so many of its standard deviations. */
    static Move role(String moved, double deviations) {
      return (role, seconds, error, roof) ->
          ModelOperations.operation(role).equals(moved)
              ? Math.max(roof, seconds * (1 + deviations * error))
              : seconds;
    }

    /** Everything is off by a share. */
    static Move all(double share) {
      return (role, seconds, error, roof) -> Math.max(roof, seconds * (1 + share));
    }
  }

  private record Known(StepTime step, double[] roofs) {}

  private final StepModel model;
  private final Map<BatchSpec, Known> known = new HashMap<>();

  MovedSteps(StepModel model) {
    this.model = model;
  }

  /** The model with moved times; what its steps say of their operations stays as it was. */
  StepModel model(Move move) {
    return model.answering(batch -> step(batch, move));
  }

  private StepTime step(BatchSpec batch, Move move) {
    Known k = known.get(batch);
    if (k == null) {
      k = known(model.step(batch));
      known.put(batch, k);
    }
    StepTime s = k.step();
    if (move == Move.NONE) {
      return s;
    }
    double sum = 0;
    List<Term> terms = s.terms();
    for (int i = 0; i < terms.size(); i++) {
      Term t = terms.get(i);
      sum +=
          t.count()
              * move.seconds(t.role(), t.time().seconds(), t.time().relativeError(), k.roofs()[i]);
    }
    return s.withKernelSeconds(sum);
  }

  private Known known(StepTime step) {
    double[] roofs = new double[step.terms().size()];
    for (int i = 0; i < roofs.length; i++) {
      Term t = step.terms().get(i);
      double roof = model.roof(t);
      roofs[i] = Double.isNaN(roof) ? 0 : Math.min(roof, t.time().seconds());
    }
    return new Known(step, roofs);
  }
}
