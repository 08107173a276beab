package io.musabench.jmh.cli;

import io.musabench.jmh.cli.ForkRunner.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

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
   * Runs them until all have ended.
   *
   * @param keeper of as many places
   * @return how they ended, in the same order
   */
  static List<Outcome> run(TurnKeeper keeper, List<Fork> forks) {
    List<CompletableFuture<Outcome>> running = new ArrayList<>();
    for (int i = 0; i < forks.size(); i++) {
      Fork fork = forks.get(i);
      TurnKeeper.Seat seat = keeper.seats().get(i);
      // A thread each: JMH waits for its fork, and the common pool may have one thread only.
      running.add(CompletableFuture.supplyAsync(() -> run(fork, seat), FORK_THREADS));
    }
    return running.stream().map(CompletableFuture::join).toList();
  }

  private static Outcome run(Fork fork, TurnKeeper.Seat seat) {
    try {
      Outcome outcome = fork.run(List.of(seat.jvmArgument()));
      if (outcome.end() != ForkRunner.End.TIMED_OUT || seat.blocked()) {
        return outcome;
      }
      // It was killed with the one that hung. By itself it shows that there is no fault in it.
      return fork.run(List.of());
    } finally {
      seat.leave();
    }
  }
}
