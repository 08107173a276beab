package io.musabench.bindings.runtime;

/**
 * The runtime's functions by direct mapping: {@code malloc} stands for {@code musaMalloc} or {@code
 * cudaMalloc}, see {@link RuntimeFunctionMapper}. Pointers, handles and {@code size_t} are {@code
 * long}, so a call converts nothing; this holds on 64-bit systems only.
 *
 * <p>Signatures: native/abi/musa_runtime.h.
 */
final class RuntimeNatives {
  private RuntimeNatives() {}

  static native int getDeviceCount(long countOut);

  static native int setDevice(int device);

  static native int getDevice(long deviceOut);

  static native int deviceGetAttribute(long valueOut, int attribute, int device);

  static native int deviceGetPCIBusId(long textOut, int length, int device);

  static native int deviceSynchronize();

  static native int runtimeGetVersion(long versionOut);

  static native int driverGetVersion(long versionOut);

  static native long getErrorName(int code);

  static native long getErrorString(int code);

  static native int getLastError();

  static native int malloc(long pointerOut, long bytes);

  static native int free(long pointer);

  static native int hostAlloc(long pointerOut, long bytes, int flags);

  static native int freeHost(long pointer);

  static native int memGetInfo(long freeOut, long totalOut);

  static native int memcpy(long destination, long source, long bytes, int kind);

  static native int memcpyAsync(long destination, long source, long bytes, int kind, long stream);

  static native int memset(long destination, int value, long bytes);

  static native int memsetAsync(long destination, int value, long bytes, long stream);

  static native int streamCreateWithFlags(long streamOut, int flags);

  static native int streamCreateWithPriority(long streamOut, int flags, int priority);

  static native int streamDestroy(long stream);

  static native int streamSynchronize(long stream);

  static native int streamQuery(long stream);

  static native int streamWaitEvent(long stream, long event, int flags);

  static native int launchHostFunc(long stream, long function, long userData);

  static native int eventCreateWithFlags(long eventOut, int flags);

  static native int eventRecord(long event, long stream);

  static native int eventSynchronize(long event);

  static native int eventQuery(long event);

  static native int eventElapsedTime(long millisecondsOut, long start, long stop);

  static native int eventDestroy(long event);

  static native int streamBeginCapture(long stream, int mode);

  static native int streamEndCapture(long stream, long graphOut);

  static native int streamIsCapturing(long stream, long statusOut);

  // Five arguments with zeros also serve a runtime whose function takes (exec, graph, flags).
  static native int graphInstantiate(
      long execOut, long graph, long errorNodeOut, long log, long logBytes);

  static native int graphUpload(long exec, long stream);

  static native int graphLaunch(long exec, long stream);

  static native int graphGetNodes(long graph, long nodesOut, long countInOut);

  static native int graphExecDestroy(long exec);

  static native int graphDestroy(long graph);
}
