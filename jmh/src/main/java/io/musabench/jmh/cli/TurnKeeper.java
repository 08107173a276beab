package io.musabench.jmh.cli;

import io.musabench.jmh.device.Turns;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Gives forks that run side by side their turns, see {@link Turns}. The first is given when all
 * have asked for one, so that none measures while another is still starting.
 */
final class TurnKeeper implements AutoCloseable {
  private final boolean pair;
  private final LongSupplier clock; // in nanoseconds
  private final List<Seat> seats = new ArrayList<>();
  private Seat last; // who has the turn, or had it last
  private boolean taken;
  private long takenNanos; // when
  private final long begunNanos;

  private TurnKeeper(int forks, boolean pair, LongSupplier clock) {
    this.pair = pair;
    this.clock = clock;
    begunNanos = clock.getAsLong();
    try {
      for (int i = 0; i < forks; i++) {
        seats.add(new Seat());
      }
    } catch (IOException e) {
      close();
      throw new UncheckedIOException("Cannot listen on this machine's loopback address", e);
    }
    last = seats.get(forks - 1); // The first is the next.
    seats.forEach(Seat::start);
  }

  /** For two forks in strict alternation: turn n of one is next to turn n of the other. */
  static TurnKeeper ofPair() {
    return ofPair(System::nanoTime);
  }

  /** The same by another clock. */
  static TurnKeeper ofPair(LongSupplier clock) {
    return new TurnKeeper(2, true, clock);
  }

  /**
   * For forks whose turns may last differently long: the next is that of the fork that has measured
   * the least so far. So all forks of equal sessions are spread over the same time evenly.
   */
  static TurnKeeper ofMany(int forks) {
    return ofMany(forks, System::nanoTime);
  }

  /** The same by another clock. */
  static TurnKeeper ofMany(int forks, LongSupplier clock) {
    return new TurnKeeper(forks, false, clock);
  }

  /** The place of one fork. */
  final class Seat {
    private final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    private boolean asked;
    private boolean asking;
    private long longestNanos;
    private long nanos; // of all its turns that have ended
    private boolean left;
    private Socket fork;

    private Seat() throws IOException {}

    /** What the fork must be told. */
    String jvmArgument() {
      return "-D" + Turns.PORT + "=" + server.getLocalPort();
    }

    private void start() {
      Thread thread = new Thread(this::listen, "musabench turns");
      thread.setDaemon(true);
      thread.start();
    }

    private void listen() {
      try (Socket socket = server.accept()) {
        socket.setTcpNoDelay(true);
        synchronized (TurnKeeper.this) {
          fork = socket;
        }
        while (socket.getInputStream().read() >= 0) {
          ask(this);
        }
      } catch (IOException gone) {
        // As at the end of what it sends.
      } finally {
        leave();
      }
    }

    /**
     * Whether it is this fork that let the others wait: its longest turn is the longest, where one
     * that never asked for a turn counts as having had it from the beginning. Of forks that were
     * killed because their time was over, this is the one that hung, in whatever order they died.
     */
    boolean blocked() {
      synchronized (TurnKeeper.this) {
        long own = longest(this);
        return seats.stream().noneMatch(other -> other != this && longest(other) > own);
      }
    }

    /** The fork has ended, or never came: the others need not wait for it. */
    void leave() {
      TurnKeeper.this.leave(this);
    }
  }

  /** The places, that of the fork that goes first first. */
  List<Seat> seats() {
    return List.copyOf(seats);
  }

  private synchronized void ask(Seat seat) {
    seat.asked = true;
    seat.asking = true;
    end(seat);
    give();
  }

  private synchronized void leave(Seat seat) {
    end(seat);
    seat.left = true;
    seat.asking = false;
    give();
  }

  private void end(Seat seat) {
    seat.longestNanos = longest(seat);
    if (taken && seat == last) {
      seat.nanos += clock.getAsLong() - takenNanos;
      taken = false;
    }
  }

  /** The present turn included. */
  private long longest(Seat seat) {
    long present = 0;
    if (!seat.asked && !seat.left) {
      present = clock.getAsLong() - begunNanos;
    } else if (taken && seat == last) {
      present = clock.getAsLong() - takenNanos;
    }
    return Math.max(seat.longestNanos, present);
  }

  private void give() {
    if (seats.stream().anyMatch(seat -> !seat.asking && !seat.left)) {
      return; // One that has the turn is among them.
    }
    Seat seat = next();
    if (seat == null) {
      return; // All have left.
    }
    seat.asking = false;
    last = seat;
    taken = true;
    takenNanos = clock.getAsLong();
    try {
      seat.fork.getOutputStream().write(1);
    } catch (IOException gone) {
      // It died just now; its listener is about to say so.
    }
  }

  private Seat next() {
    Seat next = null;
    for (int i = 1; i <= seats.size(); i++) {
      Seat seat = seats.get((seats.indexOf(last) + i) % seats.size());
      if (seat.asking && (next == null || !pair && seat.nanos < next.nanos)) {
        next = seat;
      }
    }
    return next;
  }

  @Override
  public void close() {
    for (Seat seat : seats) {
      try {
        seat.server.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
