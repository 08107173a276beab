package io.musabench.bindings.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.util.List;

/**
 * A kernel call with its arguments packed in native memory. {@link #launch} crosses to native code
 * once and allocates nothing.
 *
 * <p>The tensors stay the caller's; the call keeps them reachable, and a launch after one of them
 * was closed throws {@link IllegalStateException}. Owns no device resource: there is nothing to
 * close. The launch goes to the calling thread's stream, see {@link Ffi#setStream}.
 */
public final class PreparedCall {
  // struct mb_call of native/support/support.h
  private static final int ARGS = 8;
  private static final int COUNT = 16;
  private static final int RESULT = 24;
  private static final int CALL_BYTES = 40;

  private final KernelFunction function;
  private final Memory arguments;
  private final int count;
  private final Tensor[] tensors;
  private final List<Object> kept; // reachable: the arguments point into them
  private final Memory call;
  private final long address;

  PreparedCall(
      KernelFunction function, Memory arguments, int count, Tensor[] tensors, List<Object> kept) {
    this.function = function;
    this.arguments = arguments;
    this.count = count;
    this.tensors = tensors;
    this.kept = kept;
    call = new Memory(CALL_BYTES);
    call.clear();
    call.setLong(0, function.address());
    call.setLong(ARGS, Pointer.nativeValue(arguments));
    call.setInt(COUNT, count);
    address = Pointer.nativeValue(call);
  }

  /** Queues the kernel on the calling thread's stream. */
  public void launch() {
    requireOpen();
    int code = SupportNatives.callLaunch(address);
    if (code != 0) {
      throw failure(code);
    }
  }

  /**
   * Calls the function and keeps what it returns, the caller's to close. Not for timed paths.
   *
   * @throws FfiException if the function raises an error
   */
  public ReturnedValue invoke() {
    requireOpen();
    int code = SupportNatives.callInvoke(address);
    if (code != 0) {
      throw failure(code);
    }
    // Moved out: the next call overwrites the result in place.
    Memory result = new Memory(ArgumentPacker.ANY_BYTES);
    result.setLong(0, call.getLong(RESULT));
    result.setLong(8, call.getLong(RESULT + 8));
    return new ReturnedValue(function.ffi(), result, 0, null);
  }

  /**
   * This call followed by another that takes what this one returns, as one call: launching it
   * launches both, and what this one returned is released after the second. The two stay usable,
   * the second only through the chain.
   *
   * @param second its arguments that are to be replaced may be packed as anything
   * @param targets for each value that this call returns, counted depth first through nested
   *     arrays, which argument of the second it becomes; -1: none
   */
  public PreparedCall then(PreparedCall second, int... targets) {
    ArgumentPacker arguments =
        function
            .ffi()
            .supportFunction("mb_call_chain", name() + " + " + second.name())
            .arguments()
            .call(this)
            .call(second);
    for (int target : targets) {
      if (target >= second.count) {
        throw new IllegalArgumentException(second.name() + " has no argument " + target);
      }
      arguments.integer(target);
    }
    return arguments.prepare();
  }

  /** The kernel's name. */
  public String name() {
    return function.name();
  }

  /** The kernel. */
  public KernelFunction function() {
    return function;
  }

  /** Replaces an integer argument; it must have been packed as one. */
  public void setInteger(int index, long value) {
    requireArgument(index, ArgumentPacker.INT);
    arguments.setLong((long) ArgumentPacker.ANY_BYTES * index + 8, value);
  }

  /** Replaces a floating-point argument; it must have been packed as one. */
  public void setFloating(int index, double value) {
    requireArgument(index, ArgumentPacker.FLOAT);
    arguments.setDouble((long) ArgumentPacker.ANY_BYTES * index + 8, value);
  }

  private void requireArgument(int index, int type) {
    if (index < 0
        || index >= count
        || arguments.getInt((long) ArgumentPacker.ANY_BYTES * index) != type) {
      throw new IllegalArgumentException(
          "argument " + index + " of " + name() + " was not packed with type " + type);
    }
  }

  /** The address of the native {@code mb_call}, valid while this object is reachable. */
  long address() {
    return address;
  }

  Tensor[] tensors() {
    return tensors;
  }

  FfiException failure(int code) {
    return function.ffi().raised(code, function.name());
  }

  /** Throws {@link IllegalStateException} if a tensor of the call is closed. */
  void requireOpen() {
    for (Tensor tensor : tensors) {
      tensor.requireOpen();
    }
  }

  @Override
  public String toString() {
    return name() + java.util.Arrays.toString(tensors);
  }
}
