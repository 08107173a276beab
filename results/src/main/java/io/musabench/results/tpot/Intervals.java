package io.musabench.results.tpot;

import io.musabench.results.model.ModelOperations;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the errors of kernel times do to numbers that are computed from them: to any numbers, of one
 * model or of several at once. All of them see the same errors, so that in a difference or a ratio
 * what both sides share cancels.
 *
 * <p>A {@link Cause} of error is common to all calls that it concerns and independent of the other
 * causes. Each is moved to both ends of the range that holds it in nine of ten cases, and the
 * numbers are computed again; what all causes do to a number is the root of the sum of the squares
 * of what each does, upwards and downwards by themselves. No kernel becomes faster than its roof.
 *
 * <p>A step takes the longer of host and device, and no cause by itself may lift one over the other
 * where all together do. So all are moved together too, to where one step is that is named, with
 * nine tenths likewise: each in proportion to its part in the error of that step. Of this and the
 * root the farther counts; where nothing has a kink, this is never farther.
 *
 * <p>Remembers every step that was asked for, so it is for one answer and one thread.
 */
public final class Intervals {
  /** Something unknown that many kernel times have in common. */
  @FunctionalInterface
  public interface Cause {
    /**
     * One standard deviation of the time of a call, over the time; 0 if it does not concern it.
     *
     * @param model the model as it was given to {@link Moved#of}, to tell several apart
     */
    double error(StepModel model, Term term);

    /** The error of an operation's kernels. */
    static Cause operation(String name) {
      return (model, term) ->
          ModelOperations.operation(term.role()).equals(name) ? term.time().relativeError() : 0;
    }

    /** The speed of the device as a whole. */
    static Cause clock() {
      return (model, term) -> model.engine().clockError();
    }
  }

  /** Kernel times that are off in one way. */
  public interface Moved {
    /**
     * The model with these times; what its steps say of their operations stays as it was. A kernel
     * that the model scales is scaled after it was moved.
     */
    StepModel of(StepModel model);

    /** Time of all calls of an operation of one of the model's steps, in seconds. */
    double seconds(StepModel model, Term term);
  }

  /** Numbers that depend on kernel times; always as many. */
  @FunctionalInterface
  public interface Numbers {
    /** Computes them. */
    double[] of(Moved times);
  }

  private final List<Cause> causes;

  /** One for each cause, and one for all together unless there is no error. */
  private final List<double[]> moves = new ArrayList<>();

  private final Map<StepModel, MovedSteps> known = new IdentityHashMap<>();

  /**
   * Errors with causes of one's own.
   *
   * @param model the model of the step
   * @param whole the step that all causes together are moved with
   */
  public Intervals(List<Cause> causes, StepModel model, StepTime whole) {
    this.causes = List.copyOf(causes);
    double[] together = new double[causes.size()];
    for (int i = 0; i < together.length; i++) {
      double[] one = new double[together.length];
      one[i] = Estimate.DEVIATIONS;
      moves.add(one);
      for (Term t : whole.terms()) {
        together[i] += t.seconds() * causes.get(i).error(model, t);
      }
    }
    double norm = Math.sqrt(Arrays.stream(together).map(w -> w * w).sum());
    if (norm > 0) {
      moves.add(Arrays.stream(together).map(w -> Estimate.DEVIATIONS * w / norm).toArray());
    }
  }

  /**
   * Errors of each operation, and of the clock.
   *
   * @param whole a step of the model, the one that all are moved with together
   * @param others further steps whose operations count
   */
  public static Intervals of(StepModel model, StepTime whole, StepTime... others) {
    Set<String> operations = new LinkedHashSet<>();
    whole.terms().forEach(t -> operations.add(ModelOperations.operation(t.role())));
    for (StepTime other : others) {
      other.terms().forEach(t -> operations.add(ModelOperations.operation(t.role())));
    }
    List<Cause> causes = new ArrayList<>();
    operations.forEach(o -> causes.add(Cause.operation(o)));
    causes.add(Cause.clock());
    return new Intervals(causes, model, whole);
  }

  /**
   * The numbers with their intervals.
   *
   * @param provenance how the least certain part of them was got
   */
  public List<Estimate> of(Numbers numbers, Provenance provenance) {
    double[] values = numbers.of(new Times(MovedSteps.NONE));
    double[] up = new double[values.length];
    double[] down = new double[values.length];
    for (int i = 0; i < moves.size(); i++) {
      double[] more = numbers.of(new Times(moves.get(i)));
      double[] less = numbers.of(new Times(opposite(moves.get(i))));
      boolean together = i == causes.size();
      for (int j = 0; j < values.length; j++) {
        double above = Math.max(0, Math.max(more[j], less[j]) - values[j]);
        double below = Math.max(0, values[j] - Math.min(more[j], less[j]));
        up[j] = together ? Math.max(up[j], above * above) : up[j] + above * above;
        down[j] = together ? Math.max(down[j], below * below) : down[j] + below * below;
      }
    }
    List<Estimate> all = new ArrayList<>();
    for (int j = 0; j < values.length; j++) {
      double low = values[j] - Math.sqrt(down[j]);
      all.add(new Estimate(values[j], low, values[j] + Math.sqrt(up[j]), provenance));
    }
    return all;
  }

  /** The numbers if every kernel were as fast as the roofs allow. */
  public double[] atRoofs(Numbers numbers) {
    return numbers.of(new Times(MovedSteps.ROOFS));
  }

  /**
   * A step.
   *
   * @param seconds from its start to the start of the next
   * @param kernelSeconds sum of its kernels
   */
  public record Step(Estimate seconds, Estimate kernelSeconds) {}

  /**
   * A step of a model with the errors of its operations and of the clock, never faster than the
   * roofs.
   */
  public static Step step(StepModel model, StepTime step) {
    Intervals intervals = of(model, step);
    Numbers numbers =
        moved -> {
          double kernels = step.terms().stream().mapToDouble(t -> moved.seconds(model, t)).sum();
          return new double[] {step.withKernelSeconds(kernels).seconds(), kernels};
        };
    List<Estimate> found = intervals.of(numbers, step.provenance());
    double[] roofs = intervals.atRoofs(numbers);
    return new Step(
        found.get(0).within(roofs[0], Double.POSITIVE_INFINITY),
        found.get(1).within(roofs[1], Double.POSITIVE_INFINITY));
  }

  private static double[] opposite(double[] move) {
    return Arrays.stream(move).map(w -> -w).toArray();
  }

  private MovedSteps steps(StepModel model) {
    return known.computeIfAbsent(model, m -> new MovedSteps(m, causes));
  }

  private final class Times implements Moved {
    private final double[] move;

    Times(double[] move) {
      this.move = move;
    }

    @Override
    public StepModel of(StepModel model) {
      return steps(model).model(move);
    }

    @Override
    public double seconds(StepModel model, Term term) {
      return steps(model).seconds(term, move);
    }
  }
}
