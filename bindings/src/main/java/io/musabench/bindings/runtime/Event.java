package io.musabench.bindings.runtime;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;

/** A mark in a stream with the time at which the stream reached it. */
public final class Event extends Resource {
  // One per event: reading a time must not allocate, and events may be read by several threads.
  private final Memory milliseconds = new Memory(8);
  private final long millisecondsAddress = Pointer.nativeValue(milliseconds);

  Event(DeviceRuntime runtime, int device, long handle) {
    super(runtime, device, handle);
  }

  /** Puts this mark at the end of the stream's queue. Recording again moves it. */
  public void record(Stream stream) {
    int code = RuntimeNatives.eventRecord(handle(), stream.handle());
    if (code != 0) {
      throw runtime.error(code, "eventRecord");
    }
  }

  /** Waits until the stream has reached the mark. */
  public void synchronize() {
    int code = RuntimeNatives.eventSynchronize(handle());
    if (code != 0) {
      throw runtime.error(code, "eventSynchronize");
    }
  }

  /** True if the stream has reached the mark, or if it was never recorded. */
  public boolean isReached() {
    int code = RuntimeNatives.eventQuery(handle());
    if (code == ErrorCode.NOT_READY.code()) {
      return false;
    }
    runtime.check(code, "eventQuery");
    return true;
  }

  /**
   * Milliseconds of device time from {@code start} to this mark; both must have been reached. The
   * runtime gives a {@code float}: 24 bits of precision, so about 60 ns in a span of a second.
   */
  public float millisecondsSince(Event start) {
    synchronized (milliseconds) {
      int code = RuntimeNatives.eventElapsedTime(millisecondsAddress, start.handle(), handle());
      if (code != 0) {
        throw runtime.error(code, "eventElapsedTime");
      }
      return milliseconds.getFloat(0);
    }
  }

  @Override
  void release(long handle) {
    int code = RuntimeNatives.eventDestroy(handle);
    milliseconds.close();
    runtime.check(code, "eventDestroy");
  }
}
