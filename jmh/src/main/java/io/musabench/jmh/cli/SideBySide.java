package io.musabench.jmh.cli;

import io.musabench.jmh.cli.ForkRunner.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

/** Runs forks at once, of which one measures at a time while the others sleep. */
final class SideBySide {
  private static final Executor FORK_THREADS =
      task -> {
        Thread thread = new Thread(task, "musabench fork");
        thread.setDaemon(true);
        thread.start();
      };

  private SideBySide() {}

  /** How to run one fork. */
  interface Fork {
    /**
     * @param arguments further ones of its JVM
     */
    Outcome run(List<String> arguments);
  }

  /**
   * How a fork ended.
   *
   * @param outcome of the fork, or of the one that was run for it by itself
   * @param noRoom why there was no memory for it beside the others; empty if there was
   */
  record Ended(Outcome outcome, String noRoom) {}

  /**
   * Runs them until all have ended. Then those that ended by no fault of their own, for want of
   * memory beside the others or because another one hung, are run again, by themselves and one
   * after the other.
   *
   * @param keeper of as many places
   * @param stopped whether the process is ending: then no fork may be started, it would outlive it
   * @return how they ended, in the same order
   */
  static List<Ended> run(TurnKeeper keeper, List<Fork> forks, BooleanSupplier stopped) {
    List<CompletableFuture<Outcome>> running = new ArrayList<>();
    for (int i = 0; i < forks.size(); i++) {
      Fork fork = forks.get(i);
      TurnKeeper.Seat seat = keeper.seats().get(i);
      // A thread each: JMH waits for its fork, and the common pool may have one thread only.
      running.add(CompletableFuture.supplyAsync(() -> run(fork, seat), FORK_THREADS));
    }
    List<Outcome> outcomes = running.stream().map(CompletableFuture::join).toList();
    List<Ended> ends = new ArrayList<>();
    for (int i = 0; i < forks.size(); i++) {
      Outcome outcome = outcomes.get(i);
      String noRoom = outcome.outOfMemory() ? outcome.message() : "";
      // Killed with the one that hung, it shows by itself that there is no fault in it.
      boolean victim =
          outcome.end() == ForkRunner.End.TIMED_OUT && !keeper.seats().get(i).blocked();
      if ((victim || outcome.outOfMemory()) && !stopped.getAsBoolean()) {
        outcome = forks.get(i).run(List.of());
      }
      ends.add(new Ended(outcome, noRoom));
    }
    return ends;
  }

  private static Outcome run(Fork fork, TurnKeeper.Seat seat) {
    try {
      return fork.run(List.of(seat.jvmArgument()));
    } finally {
      seat.leave();
    }
  }
}
