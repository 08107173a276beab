package io.musabench.bindings.runtime;

import com.sun.jna.Callback;
import com.sun.jna.CallbackReference;
import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.load.LoadedLibrary;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.IntSupplier;

/**
 * The device runtime of this JVM.
 *
 * <p>There is one per JVM, because direct mapping binds the native methods once: {@link #load}
 * returns the same object for the same library and refuses another.
 *
 * <p>The current device is a property of the calling thread, as in the runtime below. Everything
 * created here belongs to the device that was current then.
 */
public final class DeviceRuntime {
  private static DeviceRuntime instance;

  private final Vendor vendor;
  private final LoadedLibrary library;
  private final RuntimeFunctionMapper mapper;
  // Streams, memory and so on that are still open, oldest first; guarded by itself.
  private final Set<Resource> open = new LinkedHashSet<>();
  // Frees put off because a capture was running; guarded by `open`.
  private final ArrayDeque<Retired> retired = new ArrayDeque<>();
  private int captures; // guarded by `open`
  // Callbacks that may run as long as the JVM does; guarded by itself.
  private final List<HostCallback> hostFunctions = new ArrayList<>();
  private final Stream legacyStream = new Stream(this, 0, 0, true);
  private final ThreadLocal<Memory> scratch = ThreadLocal.withInitial(() -> new Memory(32));

  private record Retired(int device, IntSupplier free, String call) {}

  /** Bytes of device memory. */
  public record MemoryInfo(long free, long total) {}

  private DeviceRuntime(Vendor vendor, LoadedLibrary library, RuntimeFunctionMapper mapper) {
    this.vendor = vendor;
    this.library = library;
    this.mapper = mapper;
  }

  /**
   * Loads the runtime from the first candidate that loads.
   *
   * @param loader records the attempts
   * @param vendor whose function names to use
   * @param candidates paths, or names for the system's search
   * @return the runtime; empty if no candidate loaded
   * @throws IllegalStateException if this JVM has loaded another runtime
   * @throws UnsatisfiedLinkError if the library lacks a function
   */
  public static synchronized Optional<DeviceRuntime> load(
      LibraryLoader loader, Vendor vendor, List<String> candidates) {
    RuntimeFunctionMapper mapper = new RuntimeFunctionMapper(vendor.prefix());
    Optional<LoadedLibrary> found =
        loader.load("runtime", candidates, Map.of(Library.OPTION_FUNCTION_MAPPER, mapper));
    if (found.isEmpty()) {
      return Optional.empty();
    }
    LoadedLibrary library = found.get();
    if (instance != null) {
      if (!instance.library.path().equals(library.path()) || instance.vendor != vendor) {
        throw new IllegalStateException(
            "this JVM already uses the runtime "
                + instance.library.path()
                + " and cannot use "
                + library.path()
                + " too");
      }
      return Optional.of(instance);
    }
    try {
      Native.register(RuntimeNatives.class, library.library());
    } catch (UnsatisfiedLinkError missing) {
      throw new UnsatisfiedLinkError(
          "the runtime " + library.path() + " lacks a function: " + missing.getMessage());
    }
    instance = new DeviceRuntime(vendor, library, mapper);
    return Optional.of(instance);
  }

  /** Whose function names the library exports. */
  public Vendor vendor() {
    return vendor;
  }

  /** The library and where it was loaded from. */
  public LoadedLibrary library() {
    return library;
  }

  /** The runtime's version as it encodes it; {@link Vendor#versionText} makes it readable. */
  public int version() {
    Pointer out = scratch();
    check(RuntimeNatives.runtimeGetVersion(Pointer.nativeValue(out)), "runtimeGetVersion");
    return out.getInt(0);
  }

  /** The driver's version as it encodes it. */
  public int driverVersion() {
    Pointer out = scratch();
    check(RuntimeNatives.driverGetVersion(Pointer.nativeValue(out)), "driverGetVersion");
    return out.getInt(0);
  }

  /** The address of a function by its unprefixed name, for example {@code malloc}. */
  public long functionAddress(String name) {
    String symbol = mapper.map(name);
    OptionalLong address = library.find(symbol);
    if (address.isEmpty()) {
      throw new UnsatisfiedLinkError(library.path() + " has no " + symbol);
    }
    return address.getAsLong();
  }

  // ---- devices

  /** The number of devices; 0 if the runtime finds none. */
  public int deviceCount() {
    Pointer out = scratch();
    int code = RuntimeNatives.getDeviceCount(Pointer.nativeValue(out));
    if (code == ErrorCode.NO_DEVICE.code()) {
      RuntimeNatives.getLastError();
      return 0;
    }
    check(code, "getDeviceCount");
    return out.getInt(0);
  }

  /** A device by its number. */
  public Device device(int index) {
    return new Device(this, index);
  }

  /** The calling thread's current device. */
  public Device currentDevice() {
    return device(currentDeviceIndex());
  }

  /** The number of the calling thread's current device. */
  public int currentDeviceIndex() {
    Pointer out = scratch();
    check(RuntimeNatives.getDevice(Pointer.nativeValue(out)), "getDevice");
    return out.getInt(0);
  }

  /** Makes a device current in the calling thread. */
  public void setDevice(int index) {
    check(RuntimeNatives.setDevice(index), "setDevice(" + index + ")");
  }

  /** Waits for all work on the current device. */
  public void synchronize() {
    check(RuntimeNatives.deviceSynchronize(), "deviceSynchronize");
  }

  /** Free and total memory of the current device. */
  public MemoryInfo memoryInfo() {
    Pointer out = scratch();
    long address = Pointer.nativeValue(out);
    check(RuntimeNatives.memGetInfo(address, address + 8), "memGetInfo");
    return new MemoryInfo(out.getLong(0), out.getLong(8));
  }

  // ---- memory

  /** Allocates device memory; its content is undefined. */
  public DeviceMemory allocate(long bytes) {
    Pointer out = scratch();
    check(
        RuntimeNatives.malloc(Pointer.nativeValue(out), bytes),
        () -> "malloc(" + bytes + " bytes)");
    long address = out.getLong(0);
    return track(new DeviceMemory(this, currentDeviceIndex(), address, bytes));
  }

  /** Allocates page-locked host memory; its content is undefined. */
  public HostMemory allocateHost(long bytes) {
    Pointer out = scratch();
    check(
        RuntimeNatives.hostAlloc(Pointer.nativeValue(out), bytes, 0),
        () -> "hostAlloc(" + bytes + " bytes)");
    long address = out.getLong(0);
    return track(new HostMemory(this, currentDeviceIndex(), address, bytes));
  }

  /** Copies host memory to a device address and waits. Does not wait for other streams. */
  public void copyToDevice(long destination, Pointer source, long bytes) {
    check(
        RuntimeNatives.memcpy(destination, Pointer.nativeValue(source), bytes, 1),
        () -> "memcpy(" + bytes + " bytes, host to device)");
  }

  /** Copies device memory to host memory and waits. Does not wait for other streams. */
  public void copyToHost(Pointer destination, long source, long bytes) {
    check(
        RuntimeNatives.memcpy(Pointer.nativeValue(destination), source, bytes, 2),
        () -> "memcpy(" + bytes + " bytes, device to host)");
  }

  /** Queues a copy from page-locked host memory. Both blocks must stay open until it is done. */
  public void copyToDeviceAsync(long destination, HostMemory source, long bytes, Stream stream) {
    check(
        RuntimeNatives.memcpyAsync(destination, source.handle(), bytes, 1, stream.handle()),
        "memcpyAsync");
  }

  /** Queues a copy to page-locked host memory. Both blocks must stay open until it is done. */
  public void copyToHostAsync(HostMemory destination, long source, long bytes, Stream stream) {
    check(
        RuntimeNatives.memcpyAsync(destination.handle(), source, bytes, 2, stream.handle()),
        "memcpyAsync");
  }

  /** Queues a copy between two device addresses. */
  public void copyOnDeviceAsync(long destination, long source, long bytes, Stream stream) {
    check(
        RuntimeNatives.memcpyAsync(destination, source, bytes, 3, stream.handle()), "memcpyAsync");
  }

  /** Queues setting bytes at a device address. */
  public void fillAsync(long address, byte value, long bytes, Stream stream) {
    check(RuntimeNatives.memsetAsync(address, value & 0xff, bytes, stream.handle()), "memsetAsync");
  }

  // ---- streams and events

  /** The legacy (default) stream. Closing it does nothing useful. It cannot be captured. */
  public Stream legacyStream() {
    return legacyStream;
  }

  /** Creates a stream that does not wait for the legacy stream. */
  public Stream createStream() {
    return createStream(true);
  }

  /**
   * Creates a stream.
   *
   * @param nonBlocking false: it waits for the legacy stream's work and the other way round
   */
  public Stream createStream(boolean nonBlocking) {
    Pointer out = scratch();
    check(
        RuntimeNatives.streamCreateWithFlags(Pointer.nativeValue(out), nonBlocking ? 1 : 0),
        "streamCreateWithFlags");
    long handle = out.getLong(0);
    return track(new Stream(this, currentDeviceIndex(), handle, false));
  }

  /** Creates a non-blocking stream with a priority; lower is more urgent. */
  public Stream createStreamWithPriority(int priority) {
    Pointer out = scratch();
    check(
        RuntimeNatives.streamCreateWithPriority(Pointer.nativeValue(out), 1, priority),
        "streamCreateWithPriority");
    long handle = out.getLong(0);
    return track(new Stream(this, currentDeviceIndex(), handle, false));
  }

  /** Creates an event that takes the time. */
  public Event createEvent() {
    Pointer out = scratch();
    check(RuntimeNatives.eventCreateWithFlags(Pointer.nativeValue(out), 0), "eventCreateWithFlags");
    long handle = out.getLong(0);
    return track(new Event(this, currentDeviceIndex(), handle));
  }

  // ---- graphs

  /** {@link #capture(Stream, CaptureMode, Runnable)} in mode {@link CaptureMode#THREAD_LOCAL}. */
  public Graph capture(Stream stream, Runnable work) {
    return capture(stream, CaptureMode.THREAD_LOCAL, work);
  }

  /**
   * Captures what {@code work} queues on the stream, instead of running it. If {@code work} throws,
   * the capture is ended, its graph destroyed and the exception passed on.
   *
   * @param stream not the legacy stream
   * @return the graph, the caller's to close
   */
  public Graph capture(Stream stream, CaptureMode mode, Runnable work) {
    if (stream.isLegacy()) {
      throw new IllegalArgumentException(
          "the legacy stream cannot be captured; create one with createStream()");
    }
    check(
        RuntimeNatives.streamBeginCapture(stream.handle(), mode.code()),
        () -> "streamBeginCapture(" + mode + ")");
    synchronized (open) {
      captures++;
    }
    try {
      work.run();
    } catch (RuntimeException | Error failure) {
      endCapture(stream);
      Pointer out = scratch();
      if (out.getLong(0) != 0) {
        RuntimeNatives.graphDestroy(out.getLong(0));
      }
      try {
        captureEnded();
      } catch (DeviceException second) {
        failure.addSuppressed(second);
      }
      throw failure;
    }
    int code = endCapture(stream);
    long handle = scratch().getLong(0);
    captureEnded();
    check(code, "streamEndCapture");
    return track(new Graph(this, stream.deviceIndex(), handle));
  }

  // Leaves the graph's handle, or 0, in the scratch memory.
  private int endCapture(Stream stream) {
    Pointer out = scratch();
    out.setLong(0, 0);
    return RuntimeNatives.streamEndCapture(stream.handle(), Pointer.nativeValue(out));
  }

  private void captureEnded() {
    List<Retired> due;
    synchronized (open) {
      captures--;
      if (captures > 0) {
        return;
      }
      due = new ArrayList<>(retired);
      retired.clear();
    }
    for (Retired one : due) {
      free(one);
    }
  }

  int captureStatus(Stream stream) {
    Pointer out = scratch();
    check(
        RuntimeNatives.streamIsCapturing(stream.handle(), Pointer.nativeValue(out)),
        "streamIsCapturing");
    return out.getInt(0);
  }

  // ---- ownership

  /**
   * Waits for every open stream of a device, the legacy stream included. This is what a close of
   * memory waits for.
   *
   * @throws IllegalStateException while a capture is running
   */
  public void drain(int device) {
    synchronized (open) {
      if (captures > 0) {
        throw new IllegalStateException("cannot wait for streams while one is being captured");
      }
    }
    check(drainStreams(device), "streamSynchronize");
  }

  /** Closes everything that is still open, newest first. Used by the owner of the runtime. */
  public void closeAll() {
    List<Resource> left;
    synchronized (open) {
      left = new ArrayList<>(open);
    }
    RuntimeException first = null;
    // Streams last: closing memory and executables waits for them.
    for (int pass = 0; pass < 2; pass++) {
      for (int i = left.size() - 1; i >= 0; i--) {
        if (left.get(i) instanceof Stream == (pass == 1)) {
          try {
            left.get(i).close();
          } catch (RuntimeException failure) {
            if (first == null) {
              first = failure;
            } else {
              first.addSuppressed(failure);
            }
          }
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }

  /** The number of streams, events, blocks and graphs that are open. */
  public int openResources() {
    synchronized (open) {
      return open.size();
    }
  }

  <T extends Resource> T track(T resource) {
    synchronized (open) {
      open.add(resource);
    }
    return resource;
  }

  void forget(Resource resource) {
    synchronized (open) {
      open.remove(resource);
    }
  }

  /** Frees something that queued work may use: now, or when the running capture has ended. */
  void retire(int device, IntSupplier free, String call) {
    Retired item = new Retired(device, free, call);
    synchronized (open) {
      if (captures > 0) {
        retired.add(item);
        return;
      }
    }
    free(item);
  }

  private void free(Retired item) {
    // Freed even if the wait fails: after a sticky error nothing runs any more.
    int drained = drainStreams(item.device);
    int freed = item.free.getAsInt();
    check(drained, "streamSynchronize");
    check(freed, item.call);
  }

  private int drainStreams(int device) {
    List<Stream> streams = new ArrayList<>();
    synchronized (open) {
      for (Resource resource : open) {
        if (resource instanceof Stream stream && stream.device == device) {
          streams.add(stream);
        }
      }
    }
    int first = 0;
    for (Stream stream : streams) {
      if (!stream.isClosed()) {
        int code = RuntimeNatives.streamSynchronize(stream.handle());
        first = first == 0 ? code : first;
      }
    }
    // The legacy stream is the current device's. No exception here: the free must still happen.
    Pointer out = scratch();
    int current = RuntimeNatives.getDevice(Pointer.nativeValue(out)) == 0 ? out.getInt(0) : device;
    if (current != device) {
      RuntimeNatives.setDevice(device);
    }
    int code = RuntimeNatives.streamSynchronize(0);
    if (current != device) {
      RuntimeNatives.setDevice(current);
    }
    return first == 0 ? code : first;
  }

  // ---- host functions

  /** What the runtime calls on one of its threads. */
  interface HostCallback extends Callback {
    void invoke(Pointer userData);
  }

  void enqueueHostFunction(Stream stream, Runnable function) {
    HostCallback callback = userData -> function.run();
    // JNA holds callbacks weakly, and frees one's native code with it.
    if (stream.isLegacy() || stream.isCapturing()) {
      synchronized (hostFunctions) {
        hostFunctions.add(callback);
      }
    } else {
      stream.keep(callback);
    }
    long address = Pointer.nativeValue(CallbackReference.getFunctionPointer(callback));
    check(RuntimeNatives.launchHostFunc(stream.handle(), address, 0), "launchHostFunc");
  }

  // ---- errors

  /** Throws {@link DeviceException} unless {@code code} is 0. */
  void check(int code, String call) {
    if (code != 0) {
      throw error(code, call);
    }
  }

  private void check(int code, java.util.function.Supplier<String> call) {
    if (code != 0) {
      throw error(code, call.get());
    }
  }

  /** The exception for a failed call, with the runtime's own name and text for the code. */
  public DeviceException error(int code, String call) {
    RuntimeNatives.getLastError(); // a later check of the last error must not find this one again
    String name = text(RuntimeNatives.getErrorName(code));
    String text = text(RuntimeNatives.getErrorString(code));
    return new DeviceException(mapper.map(call), code, name, text);
  }

  private static String text(long address) {
    return address == 0 ? "?" : new Pointer(address).getString(0, "UTF-8");
  }

  /** 32 bytes of the calling thread's own, for out parameters. */
  Pointer scratch() {
    return scratch.get();
  }

  void readProperties(Memory properties, int device) {
    // Newer headers rename the function; a library may export either name or both.
    OptionalLong address = library.find(mapper.map("getDeviceProperties"));
    if (address.isEmpty()) {
      address = library.find(mapper.map("getDeviceProperties_v2"));
    }
    if (address.isEmpty()) {
      throw new UnsatisfiedLinkError(
          library.path() + " has no " + mapper.map("getDeviceProperties"));
    }
    int code = LoadedLibrary.call(address.getAsLong(), properties, device);
    check(code, () -> "getDeviceProperties(" + device + ")");
  }
}
