package io.musabench.bindings.ffi;

import com.sun.jna.FunctionMapper;
import com.sun.jna.NativeLibrary;
import java.lang.reflect.Method;

/**
 * The support library by direct mapping: {@code callLaunch} stands for {@code mb_call_launch}.
 * Signatures: native/support/support.h.
 */
final class SupportNatives {
  static final FunctionMapper MAPPER =
      new FunctionMapper() {
        @Override
        public String getFunctionName(NativeLibrary library, Method method) {
          return "mb_"
              + method.getName().replaceAll("([A-Z])", "_$1").toLowerCase(java.util.Locale.ROOT);
        }
      };

  private SupportNatives() {}

  static native int callLaunch(long call);

  static native int callInvoke(long call);

  static native int callsLaunch(long calls, int count, long failedIndexOut);

  static native int programRun(long items, long count, long failedOut, long hostNsOut);

  static native int poolCreate(long malloc, long free, long isCapturing, long poolOut);

  static native int poolDestroy(long pool);

  static native int poolUse(long pool, long previousOut);

  static native int poolGetStats(long pool, long statsOut);

  static native int allocationsMeasure(long prototype, int tensors, int rounds, long nanosOut);
}
