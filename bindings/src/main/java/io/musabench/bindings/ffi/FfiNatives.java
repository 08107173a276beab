package io.musabench.bindings.ffi;

import com.sun.jna.FunctionMapper;
import com.sun.jna.NativeLibrary;
import java.lang.reflect.Method;

/**
 * TVM-FFI's own functions by direct mapping: {@code envSetStream} stands for {@code
 * TVMFFIEnvSetStream}. Signatures: native/abi/tvm_ffi.h.
 */
final class FfiNatives {
  static final FunctionMapper MAPPER =
      new FunctionMapper() {
        @Override
        public String getFunctionName(NativeLibrary library, Method method) {
          String name = method.getName();
          return "TVMFFI" + Character.toUpperCase(name.charAt(0)) + name.substring(1);
        }
      };

  private FfiNatives() {}

  static native int objectIncRef(long object);

  static native int objectDecRef(long object);

  static native void errorMoveFromRaised(long errorOut);

  static native int envSetStream(int deviceType, int device, long stream, long previousOut);

  static native long envGetStream(int deviceType, int device);

  static native int envSetDLPackManagedTensorAllocator(
      long allocator, int global, long previousOut);
}
