package io.musabench.bindings.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.musabench.bindings.runtime.DeviceRuntime;
import io.musabench.bindings.runtime.Event;
import io.musabench.bindings.runtime.GraphExec;
import io.musabench.bindings.runtime.HostMemory;
import io.musabench.bindings.runtime.Stream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A timing session: kernel calls, graph launches, event records and memory sets, queued in order by
 * one crossing from Java. {@link #run} allocates nothing.
 *
 * <pre>{@code
 * Program program =
 *     Program.builder(ffi).record(start, stream).call(kernel).record(stop, stream).build();
 * long hostNanoseconds = program.run();
 * stream.synchronize();
 * float milliseconds = stop.millisecondsSince(start);
 * }</pre>
 *
 * <p>Kernels go to the calling thread's stream ({@link Ffi#setStream}). What a program refers to
 * stays its owner's; a run after one of them was closed throws {@link IllegalStateException}. Not
 * for several threads at once.
 */
public final class Program {
  // struct mb_item and enum mb_item_kind of native/support/support.h
  private static final int ITEM_BYTES = 64;
  private static final int CALL = 1;
  private static final int FUNCTION = 3;
  private static final int SPIN = 4;

  private final Ffi ffi;
  private final Item[] items;
  private final Runnable[] checks;
  private final Memory memory; // items, the failed index, count + 1 times
  private final long itemsAddress;
  private final long failedAddress;
  private final long timesAddress;

  /** {@code call} or the runtime function's name, and what is packed. */
  private record Item(PreparedCall call, String name, int kind, int count, long fn, long[] args) {}

  private Program(Builder builder) {
    ffi = builder.ffi;
    items = builder.items.toArray(new Item[0]);
    checks = builder.checks.values().toArray(new Runnable[0]);
    memory = new Memory(ITEM_BYTES * (long) items.length + 8 + 8L * (items.length + 1));
    memory.clear();
    itemsAddress = Pointer.nativeValue(memory);
    failedAddress = itemsAddress + ITEM_BYTES * (long) items.length;
    timesAddress = failedAddress + 8;
    for (int i = 0; i < items.length; i++) {
      long base = ITEM_BYTES * (long) i;
      memory.setInt(base, items[i].kind);
      memory.setInt(base + 4, items[i].count);
      memory.setLong(base + 8, items[i].fn);
      for (int j = 0; j < items[i].args.length; j++) {
        memory.setLong(base + 16 + 8L * j, items[i].args[j]);
      }
    }
  }

  /** Starts a program. */
  public static Builder builder(Ffi ffi) {
    return new Builder(ffi);
  }

  /** The number of items. */
  public int size() {
    return items.length;
  }

  /**
   * Queues every item in order and returns; it waits for the device only where an item does.
   *
   * @return nanoseconds of host time, one crossing into native code included
   * @throws FfiException if a kernel refuses its call
   * @throws io.musabench.bindings.runtime.DeviceException if a runtime function fails
   */
  public long run() {
    return run(items.length);
  }

  /**
   * As {@link #run()}, but only the first items.
   *
   * @param count how many, at most {@link #size}
   */
  public long run(int count) {
    if (count < 0 || count > items.length) {
      throw new IndexOutOfBoundsException(count + " of " + items.length + " items");
    }
    requireOpen();
    long begin = System.nanoTime();
    int code = SupportNatives.programRun(itemsAddress, count, failedAddress, 0);
    long end = System.nanoTime();
    if (code != 0) {
      throw failure(code);
    }
    return end - begin;
  }

  /**
   * As {@link #run}, and takes the host's time around each item, which costs about 20 ns an item.
   *
   * @return nanoseconds of host time from before the first item to after the last
   */
  public long runTimed() {
    requireOpen();
    int code = SupportNatives.programRun(itemsAddress, items.length, failedAddress, timesAddress);
    if (code != 0) {
      throw failure(code);
    }
    return time(items.length) - time(0);
  }

  /** Nanoseconds of host time that an item took in the last {@link #runTimed}. */
  public long hostNanoseconds(int item) {
    if (item < 0 || item >= items.length) {
      throw new IndexOutOfBoundsException(item + " of " + items.length + " items");
    }
    return time(item + 1) - time(item);
  }

  private long time(int index) {
    return memory.getLong(ITEM_BYTES * (long) items.length + 8 + 8L * index);
  }

  private void requireOpen() {
    for (Runnable check : checks) {
      check.run();
    }
  }

  private RuntimeException failure(int code) {
    int index = (int) memory.getLong(ITEM_BYTES * (long) items.length);
    if (index < 0) {
      return new IllegalStateException("the native program loop returned " + code);
    }
    Item item = items[index];
    return item.call != null ? item.call.failure(code) : ffi.runtime().error(code, item.name);
  }

  /** Collects the items of a program in order. */
  public static final class Builder {
    private final Ffi ffi;
    private final DeviceRuntime runtime;
    private final List<Item> items = new ArrayList<>();
    // One for each object: a session records the same two events many times. A check also keeps its
    // object from the garbage collector, and with it the memory that the items point to.
    private final Map<Object, Runnable> checks = new LinkedHashMap<>();

    private Builder(Ffi ffi) {
      this.ffi = ffi;
      runtime = ffi.runtime();
    }

    /** Launches a kernel. */
    public Builder call(PreparedCall call) {
      return call(call, 1);
    }

    /** Launches a kernel {@code times} times in a native loop. */
    public Builder call(PreparedCall call, int times) {
      if (times < 1) {
        throw new IllegalArgumentException("times must be at least 1, not " + times);
      }
      checks.put(call, call::requireOpen);
      items.add(new Item(call, call.name(), CALL, times, 0, new long[] {call.address()}));
      return this;
    }

    /** Launches the kernels of a list. */
    public Builder calls(CallList list) {
      list.calls().forEach(this::call);
      return this;
    }

    /** Launches a graph. */
    public Builder graph(GraphExec graph, Stream stream) {
      checks.put(graph, graph::requireOpen);
      return function("graphLaunch", stream, graph.handle(), stream.handle());
    }

    /** Makes a device the calling thread's current one. */
    public Builder device(int index) {
      items.add(
          new Item(
              null,
              "setDevice",
              FUNCTION,
              1,
              runtime.functionAddress("setDevice"),
              new long[] {index}));
      return this;
    }

    /** Records an event. */
    public Builder record(Event event, Stream stream) {
      checks.put(event, event::requireOpen);
      return function("eventRecord", stream, event.handle(), stream.handle());
    }

    /** Makes a stream wait for an event. */
    public Builder waitFor(Event event, Stream stream) {
      checks.put(event, event::requireOpen);
      return function("streamWaitEvent", stream, stream.handle(), event.handle(), 0);
    }

    /** Sets every byte of a contiguous tensor, for example of a buffer that flushes the caches. */
    public Builder fill(Tensor tensor, byte value, Stream stream) {
      if (!tensor.isContiguous()) {
        throw new IllegalArgumentException(tensor + " is not contiguous");
      }
      checks.put(tensor, tensor::requireOpen);
      return function(
          "memsetAsync", stream, tensor.address(), value & 0xff, tensor.bytes(), stream.handle());
    }

    /** Copies a contiguous tensor to another of the same size on the same device. */
    public Builder copy(Tensor from, Tensor to, Stream stream) {
      if (!from.isContiguous() || !to.isContiguous() || from.bytes() != to.bytes()) {
        throw new IllegalArgumentException("cannot copy " + from + " to " + to + " in one piece");
      }
      checks.put(from, from::requireOpen);
      checks.put(to, to::requireOpen);
      return function(
          "memcpyAsync", stream, to.address(), from.address(), from.bytes(), 3, stream.handle());
    }

    /**
     * Copies page-locked memory to a contiguous tensor of the same size. The memory must not be
     * written before the copy is done.
     */
    public Builder upload(HostMemory from, Tensor to, Stream stream) {
      if (!to.isContiguous() || from.bytes() != to.bytes()) {
        throw new IllegalArgumentException(
            "cannot copy " + from.bytes() + " bytes to " + to + " in one piece");
      }
      checks.put(from, from::requireOpen);
      checks.put(to, to::requireOpen);
      return function(
          "memcpyAsync", stream, to.address(), from.address(), from.bytes(), 1, stream.handle());
    }

    /** Waits until a stream has drained. */
    public Builder synchronize(Stream stream) {
      return function("streamSynchronize", stream, stream.handle());
    }

    /** Holds the stream until {@link #release}, or until the hold's limit has passed. */
    public Builder hold(StreamHold hold, Stream stream) {
      checks.put(hold, hold::requireOpen);
      return function(
          "launchHostFunc", stream, stream.handle(), hold.waitFunction(), hold.address());
    }

    /** Ends a {@link #hold}: the stream goes on with what has been queued since. */
    public Builder release(StreamHold hold) {
      checks.put(hold, hold::requireOpen);
      items.add(
          new Item(
              null,
              "release of a hold",
              FUNCTION,
              1,
              hold.releaseFunction(),
              new long[] {hold.address()}));
      return this;
    }

    /** The number of items so far. */
    public int size() {
      return items.size();
    }

    /** Spins on the host: lets the device run dry, or lets work queue up behind something. */
    public Builder spin(long nanoseconds) {
      items.add(new Item(null, "spin", SPIN, 0, 0, new long[] {nanoseconds}));
      return this;
    }

    private Builder function(String name, Stream stream, long... args) {
      checks.put(stream, stream::requireOpen);
      items.add(
          new Item(
              null,
              name,
              FUNCTION,
              args.length,
              runtime.functionAddress(name),
              Arrays.copyOf(args, args.length)));
      return this;
    }

    /** Packs the program. The builder can go on to make a longer one. */
    public Program build() {
      return new Program(this);
    }
  }
}
