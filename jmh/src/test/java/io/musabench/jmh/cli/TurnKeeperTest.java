package io.musabench.jmh.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.jmh.device.Turns;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The runner's side of turns, against sockets in place of forks. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class TurnKeeperTest {
  // Long enough for a byte on the loopback address, had one been sent.
  private static final int SILENCE_MILLIS = 100;
  private static final int PATIENCE_MILLIS = 60_000;

  private final AtomicLong nanos = new AtomicLong();
  private final TurnKeeper keeper = TurnKeeper.ofPair(nanos::get);
  private Socket first;
  private Socket second;

  @BeforeEach
  void connect() throws IOException {
    first = socket(keeper.seats().get(0));
    second = socket(keeper.seats().get(1));
  }

  @AfterEach
  void close() throws IOException {
    first.close();
    second.close();
    keeper.close();
  }

  private static Socket socket(TurnKeeper.Seat seat) throws IOException {
    String port = seat.jvmArgument().substring(("-D" + Turns.PORT + "=").length());
    return new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(port));
  }

  private static void ask(Socket fork) throws IOException {
    fork.getOutputStream().write(1);
  }

  private static void expectTurn(Socket fork) throws IOException {
    fork.setSoTimeout(PATIENCE_MILLIS);
    assertThat(fork.getInputStream().read()).isEqualTo(1);
  }

  private static void expectNone(Socket fork) throws Exception {
    Thread.sleep(SILENCE_MILLIS);
    assertThat(fork.getInputStream().available()).isZero();
  }

  @Test
  void shouldGiveNoTurnBeforeBothAsk() throws Exception {
    ask(second);
    expectNone(second);
    ask(first);
    expectTurn(first);
    expectNone(second);
  }

  @Test
  void shouldAlternateFromTheFirst() throws Exception {
    ask(first);
    ask(second);
    for (int round = 0; round < 3; round++) {
      expectTurn(first);
      expectNone(second);
      ask(first);
      expectTurn(second);
      expectNone(first);
      ask(second);
    }
  }

  @Test
  void shouldAlternateHoweverLongTurnsLast() throws Exception {
    ask(first);
    ask(second);
    for (int round = 0; round < 3; round++) {
      expectTurn(first);
      nanos.addAndGet(100);
      ask(first);
      expectTurn(second);
      nanos.addAndGet(1);
      ask(second);
    }
  }

  @Test
  void shouldGiveAllTurnsToWhoIsLeft() throws Exception {
    ask(first);
    ask(second);
    expectTurn(first);
    first.close(); // Its process has ended.
    for (int round = 0; round < 3; round++) {
      expectTurn(second);
      ask(second);
    }
  }

  @Test
  void shouldNotWaitForAForkThatNeverCame() throws Exception {
    ask(second);
    keeper.seats().get(0).leave();
    expectTurn(second);
  }

  @Test
  void shouldKnowWhoBlockedTheOther() throws Exception {
    TurnKeeper.Seat seat = keeper.seats().get(0);
    TurnKeeper.Seat other = keeper.seats().get(1);
    ask(first);
    ask(second);
    expectTurn(first);
    nanos.addAndGet(2);
    first.close();
    expectTurn(second);
    nanos.addAndGet(1);
    assertThat(seat.blocked()).isTrue();
    assertThat(other.blocked()).isFalse();
  }

  @Test
  void shouldBlameAForkThatNeverAsked() throws Exception {
    nanos.addAndGet(1);
    ask(second);
    while (keeper.seats().get(1).blocked()) {
      Thread.sleep(1); // Until what it has asked is read.
    }
    expectNone(second);
    assertThat(keeper.seats().get(0).blocked()).isTrue();
  }

  @Test
  void shouldBlameAForkThatNeverAskedAlsoWhereTheOtherHasItsTurnAfterwards() throws Exception {
    ask(second);
    nanos.addAndGet(2);
    keeper.seats().get(0).leave(); // Both were killed, and its end was noticed first.
    expectTurn(second);
    nanos.addAndGet(1);
    assertThat(keeper.seats().get(0).blocked()).isTrue();
    assertThat(keeper.seats().get(1).blocked()).isFalse();
  }

  @Test
  void shouldGiveManyTheSameTime() throws Exception {
    AtomicLong clock = new AtomicLong();
    List<Socket> forks = new ArrayList<>();
    try (TurnKeeper many = TurnKeeper.ofMany(3, clock::get)) {
      for (TurnKeeper.Seat seat : many.seats()) {
        forks.add(socket(seat));
      }
      for (Socket fork : forks) {
        ask(fork);
      }
      int[][] turns = {{0, 700}, {1, 50}, {2, 400}, {1, 300}, {1, 100}, {2, 310}, {1, 260}, {0, 9}};
      for (int[] turn : turns) {
        expectTurn(forks.get(turn[0]));
        clock.addAndGet(turn[1]);
        ask(forks.get(turn[0]));
      }
      expectTurn(forks.get(0)); // 709, the others 710
    } finally {
      for (Socket fork : forks) {
        fork.close();
      }
    }
  }
}
