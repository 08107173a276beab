package io.musabench.bindings.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.musabench.bindings.runtime.DeviceException;
import io.musabench.bindings.runtime.Stream;
import java.time.Duration;
import java.util.Optional;

/**
 * Keeps a stream from going on while a {@link Program} queues work behind it, so that no launch
 * latency gets between two events around that work.
 *
 * <pre>{@code
 * Program.builder(ffi)
 *     .hold(hold, stream).record(start, stream).call(kernel).record(stop, stream).release(hold)
 * }</pre>
 *
 * <p>A program that is ahead of the stream holds nothing up: the n-th hold is over when the n-th
 * release has come. Never a hang: a hold ends by itself when its limit passes, for example because
 * the stream's queue is full and the next launch waits for the stream. None after it then waits,
 * and {@link #expired} says so.
 *
 * <p>A host function, because MUSA, CUDA and the host runtime all have them; GPUs' drivers can also
 * make a stream wait for a value in memory, but MUSA's does not document it. Not for several
 * threads at once.
 */
public final class StreamHold implements AutoCloseable {
  // struct mb_hold of native/support/support.h
  private static final int RELEASED = 0;
  private static final int WAITED = 16;
  private static final int EXPIRED = 24;
  private static final int LIMIT = 32;
  private static final int BYTES = 40;

  private final Stream stream;
  private final Memory memory = new Memory(BYTES);
  private final long wait;
  private final long release;
  private boolean closed;

  private StreamHold(Ffi ffi, Stream stream, Duration limit) {
    this.stream = stream;
    wait = ffi.support().require("mb_hold_wait");
    release = ffi.support().require("mb_hold_release");
    memory.clear();
    memory.setLong(LIMIT, limit.toNanos());
  }

  /**
   * A hold for one stream, tried out once.
   *
   * @param limit the longest time that a hold lasts
   * @return empty where the runtime cannot call host functions from a stream
   */
  public static Optional<StreamHold> of(Ffi ffi, Stream stream, Duration limit) {
    StreamHold hold = new StreamHold(ffi, stream, limit);
    try {
      Program.builder(ffi).hold(hold, stream).release(hold).synchronize(stream).build().run();
    } catch (UnsatisfiedLinkError | DeviceException e) {
      return Optional.empty();
    }
    hold.arm();
    return Optional.of(hold);
  }

  /** Throws {@link IllegalStateException} if it has been closed: its memory is gone then. */
  void requireOpen() {
    if (closed) {
      throw new IllegalStateException("StreamHold is closed");
    }
  }

  long address() {
    requireOpen();
    return Pointer.nativeValue(memory);
  }

  long waitFunction() {
    return wait;
  }

  long releaseFunction() {
    return release;
  }

  /** Before a program with holds: forgets what was. The stream must have drained. */
  public void arm() {
    requireOpen();
    long limit = memory.getLong(LIMIT);
    memory.clear();
    memory.setLong(LIMIT, limit);
  }

  /** Ends all holds, those still to come included; after a program that may have broken off. */
  public void open() {
    requireOpen();
    memory.setLong(RELEASED, -1L);
  }

  /** How many holds since {@link #arm} ended by their limit: 0 or 1. The stream has drained. */
  public long expired() {
    requireOpen();
    return memory.getLong(EXPIRED);
  }

  /** How many holds since {@link #arm} the stream had to wait in. The stream has drained. */
  public long waited() {
    requireOpen();
    return memory.getLong(WAITED);
  }

  /** Opens it and waits until the stream has drained, because that looks at the memory. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    open();
    stream.synchronize();
    closed = true;
    memory.close();
  }
}
