package io.musabench.bindings.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.util.List;

/**
 * Calls that one native loop launches in order, such as the kernels of one step. {@link #launch}
 * crosses to native code once and allocates nothing.
 */
public final class CallList {
  private final PreparedCall[] calls;
  private final Memory pointers; // n pointers, then the index of the call that failed
  private final long address;

  /** A list of the given calls; the same call may stand in it several times. */
  public CallList(List<PreparedCall> calls) {
    this.calls = calls.toArray(new PreparedCall[0]);
    pointers = new Memory(8L * this.calls.length + 8);
    pointers.clear();
    for (int i = 0; i < this.calls.length; i++) {
      pointers.setLong(8L * i, this.calls[i].address());
    }
    address = Pointer.nativeValue(pointers);
  }

  /** The number of calls. */
  public int size() {
    return calls.length;
  }

  /** The calls in order. */
  public List<PreparedCall> calls() {
    return List.of(calls);
  }

  /** Queues all kernels on the calling thread's stream. Stops at the first that fails. */
  public void launch() {
    for (PreparedCall call : calls) {
      call.requireOpen();
    }
    int code = SupportNatives.callsLaunch(address, calls.length, address + 8L * calls.length);
    if (code != 0) {
      throw calls[pointers.getInt(8L * calls.length)].failure(code);
    }
  }
}
