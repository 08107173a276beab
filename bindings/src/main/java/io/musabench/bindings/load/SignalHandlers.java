package io.musabench.bindings.load;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;

/**
 * The signal handlers of this process while a library loads. Some libraries install their own when
 * they are loaded; releases of libtvm_ffi do, to print a trace when the process crashes. In a JVM,
 * SIGSEGV is no crash: compiled code uses it for null checks and safepoints, so a process whose
 * handler was replaced dies at the next of them.
 *
 * <p>Between the library's constructor and {@link #restore} the replaced handler is in force; load
 * libraries before threads run code of their own.
 */
final class SignalHandlers {
  // What HotSpot handles, in Linux's numbers: HUP, INT, QUIT, ILL, BUS, FPE, SEGV, USR2, PIPE, TERM
  // and XFSZ.
  private static final int[] SIGNALS = {1, 2, 3, 4, 7, 8, 11, 12, 13, 15, 25};

  // At least sizeof(struct sigaction) of the C library; glibc's and musl's have 152 bytes.
  private static final int ACTION_BYTES = 256;

  private final Function sigaction;
  private final Memory actions;

  private SignalHandlers(Function sigaction, Memory actions) {
    this.sigaction = sigaction;
    this.actions = actions;
  }

  /** Notes which handlers are in force. */
  static SignalHandlers save() {
    SignalHandlers saved =
        new SignalHandlers(
            NativeLibrary.getProcess().getFunction("sigaction"),
            new Memory((long) SIGNALS.length * ACTION_BYTES));
    for (int i = 0; i < SIGNALS.length; i++) {
      saved.call(SIGNALS[i], Pointer.NULL, saved.action(i));
    }
    return saved;
  }

  /** Puts the noted handlers back. */
  void restore() {
    for (int i = 0; i < SIGNALS.length; i++) {
      call(SIGNALS[i], action(i), Pointer.NULL);
    }
  }

  private Pointer action(int index) {
    return actions.share((long) index * ACTION_BYTES, ACTION_BYTES);
  }

  private void call(int signal, Pointer action, Pointer previous) {
    if (sigaction.invokeInt(new Object[] {signal, action, previous}) != 0) {
      throw new IllegalStateException("sigaction of signal " + signal + " failed");
    }
  }
}
