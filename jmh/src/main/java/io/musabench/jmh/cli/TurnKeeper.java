package io.musabench.jmh.cli;

import io.musabench.jmh.device.Turns;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

/**
 * Gives two forks that run side by side their turns, see {@link Turns}. The first is given when
 * both have asked for one, so that neither measures while the other is still starting.
 */
final class TurnKeeper implements AutoCloseable {
  private static final int SIDES = 2;

  private final List<Seat> seats = new ArrayList<>();
  private Seat last; // who has the turn, or had it last
  private boolean taken;
  private long takenNanos; // when

  /** Takes its places; nothing is given until both forks ask. */
  TurnKeeper() {
    try {
      for (int i = 0; i < SIDES; i++) {
        seats.add(new Seat());
      }
    } catch (IOException e) {
      close();
      throw new UncheckedIOException("Cannot listen on this machine's loopback address", e);
    }
    last = seats.get(SIDES - 1); // The first is the next.
    seats.forEach(Seat::start);
  }

  /** The place of one fork. */
  final class Seat {
    private final ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    private boolean asked;
    private boolean asking;
    private long longestNanos;
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
     * Whether it is this fork that let the other one wait: its longest turn is the longer one, or
     * it never got as far as to ask for one. Of two forks that were killed because their time was
     * over, this is the one that hung, in whatever order they died.
     */
    boolean blocked() {
      synchronized (TurnKeeper.this) {
        Seat other = seats.get(SIDES - 1 - seats.indexOf(this));
        return longest(this) != longest(other)
            ? longest(this) > longest(other)
            : !asked || other.asked;
      }
    }

    /** The fork has ended, or never came: the other one need not wait for it. */
    void leave() {
      TurnKeeper.this.leave(this);
    }
  }

  /** The place of the fork that goes first, then that of the other. */
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
    seat.left = true;
    seat.asking = false;
    end(seat);
    give();
  }

  private void end(Seat seat) {
    seat.longestNanos = longest(seat);
    taken &= seat != last;
  }

  /** The present turn included. */
  private long longest(Seat seat) {
    long present = taken && seat == last ? System.nanoTime() - takenNanos : 0;
    return Math.max(seat.longestNanos, present);
  }

  private void give() {
    if (taken || seats.stream().anyMatch(seat -> !seat.asking && !seat.left)) {
      return;
    }
    int after = seats.indexOf(last);
    for (int i = 1; i <= SIDES; i++) {
      Seat seat = seats.get((after + i) % SIDES);
      if (seat.asking) {
        seat.asking = false;
        last = seat;
        taken = true;
        takenNanos = System.nanoTime();
        try {
          seat.fork.getOutputStream().write(1);
        } catch (IOException gone) {
          // It died just now; its listener is about to say so.
        }
        return;
      }
    }
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
