package io.musabench.bindings.ffi;

import com.sun.jna.Library;
import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.load.LoadedLibrary;
import io.musabench.bindings.runtime.DeviceMemory;
import io.musabench.bindings.runtime.DeviceRuntime;
import io.musabench.bindings.runtime.MemoryBlock;
import io.musabench.bindings.runtime.Stream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * TVM-FFI in this JVM: the FFI library, the support library, and the environment that kernels read.
 *
 * <p>As with {@link DeviceRuntime} there is one per JVM. The environment stream is a property of
 * the calling thread: set it with {@link #setStream} on the thread that launches.
 */
public final class Ffi {
  private static Ffi instance;

  private final DeviceRuntime runtime;
  private final int deviceType;
  private final LoadedLibrary library;
  private final LoadedLibrary support;
  private final List<PooledAllocator> pools = new ArrayList<>(); // open ones; guarded by itself

  private Ffi(DeviceRuntime runtime, int deviceType, LoadedLibrary library, LoadedLibrary support) {
    this.runtime = runtime;
    this.deviceType = deviceType;
    this.library = library;
    this.support = support;
  }

  /**
   * Loads the FFI and the support library, each from the first candidate that loads.
   *
   * @param loader records the attempts
   * @param deviceType DLPack's code for the runtime's devices: CPU 1, CUDA 2, MUSA 12
   * @return empty if either did not load
   * @throws IllegalStateException if this JVM has loaded another FFI library
   */
  public static synchronized Optional<Ffi> load(
      LibraryLoader loader,
      DeviceRuntime runtime,
      int deviceType,
      List<String> ffiCandidates,
      List<String> supportCandidates) {
    Optional<LoadedLibrary> library =
        loader.load(
            "ffi", ffiCandidates, Map.of(Library.OPTION_FUNCTION_MAPPER, FfiNatives.MAPPER));
    if (library.isEmpty()) {
      return Optional.empty();
    }
    Optional<LoadedLibrary> support =
        loader.load(
            "support",
            supportCandidates,
            Map.of(Library.OPTION_FUNCTION_MAPPER, SupportNatives.MAPPER));
    if (support.isEmpty()) {
      return Optional.empty();
    }
    if (instance != null) {
      if (!instance.library.path().equals(library.get().path())
          || instance.runtime != runtime
          || instance.deviceType != deviceType) {
        throw new IllegalStateException(
            "this JVM already uses the FFI library "
                + instance.library.path()
                + " and cannot use "
                + library.get().path()
                + " too");
      }
      return Optional.of(instance);
    }
    Native.register(FfiNatives.class, library.get().library());
    Native.register(SupportNatives.class, support.get().library());
    instance = new Ffi(runtime, deviceType, library.get(), support.get());
    return Optional.of(instance);
  }

  /** The runtime whose devices the tensors are on. */
  public DeviceRuntime runtime() {
    return runtime;
  }

  /** DLPack's code for the runtime's devices. */
  public int deviceType() {
    return deviceType;
  }

  /** The FFI library. */
  public LoadedLibrary library() {
    return library;
  }

  /** The support library. */
  public LoadedLibrary support() {
    return support;
  }

  /**
   * Loads a kernel library from the first candidate that loads; empty if none did. Its symbols stay
   * its own, as with TVM-FFI's loader: generated kernels share names of what they are made from.
   */
  public Optional<KernelLibrary> loadKernels(LibraryLoader loader, List<String> candidates) {
    return loader
        .load("kernels", candidates, LibraryLoader.LOCAL_SYMBOLS)
        .map(loaded -> new KernelLibrary(this, loaded));
  }

  // ---- environment

  /**
   * Makes kernels launched from the calling thread go to this stream, until it is set again. The
   * stream must stay open as long as kernels are launched.
   */
  public void setStream(Stream stream) {
    int code = FfiNatives.envSetStream(deviceType, stream.deviceIndex(), stream.handle(), 0);
    if (code != 0) {
      throw raised(code, "TVMFFIEnvSetStream");
    }
  }

  /**
   * A function of the support library as a kernel: one that calls a vendor's library, for example.
   *
   * @param symbol of the function
   * @param name of what it calls, for messages
   * @throws UnsatisfiedLinkError if the support library does not have it
   */
  public KernelFunction supportFunction(String symbol, String name) {
    return new KernelFunction(this, name, support.require(symbol));
  }

  /** The handle of the calling thread's stream for a device; 0 is the legacy stream. */
  public long streamHandle(int device) {
    return FfiNatives.envGetStream(deviceType, device);
  }

  /** Creates a pool of scratch memory on the current device; see {@link PooledAllocator#use}. */
  public PooledAllocator createPool() {
    PooledAllocator pool = PooledAllocator.create(this);
    synchronized (pools) {
      pools.add(pool);
    }
    return pool;
  }

  void forget(PooledAllocator pool) {
    synchronized (pools) {
      pools.remove(pool);
    }
  }

  /** Closes the pools that are still open. Used by the owner, before the runtime's own close. */
  public void closeAll() {
    List<PooledAllocator> left;
    synchronized (pools) {
      left = List.copyOf(pools);
    }
    left.forEach(PooledAllocator::close);
  }

  // ---- tensors

  /**
   * Allocates a tensor on the current device, contiguous, with undefined content. The result owns
   * its memory.
   */
  public Tensor allocate(DType dtype, long... shape) {
    long bytes = Math.multiplyExact(Tensor.elements(shape), (long) dtype.bytes());
    // An empty tensor still has an address: kernels may refuse a null pointer.
    DeviceMemory memory = runtime.allocate(Math.max(bytes, 1));
    return new Tensor(
        this,
        memory,
        memory::requireOpen,
        memory.deviceIndex(),
        memory.address(),
        dtype,
        shape,
        Tensor.contiguousStrides(shape));
  }

  /**
   * A contiguous tensor in a block that somebody else owns. In host memory it cannot be copied to
   * or from Java arrays; use the block itself for that.
   *
   * @param offset in bytes
   */
  public Tensor wrap(MemoryBlock memory, long offset, DType dtype, long... shape) {
    long bytes = Math.multiplyExact(Tensor.elements(shape), (long) dtype.bytes());
    return new Tensor(
        this,
        null,
        memory::requireOpen,
        memory.deviceIndex(),
        memory.address(offset, bytes),
        dtype,
        shape,
        Tensor.contiguousStrides(shape));
  }

  // ---- errors and objects

  /** Takes the error that the calling thread's last call raised. */
  FfiException raised(int code, String kernel) {
    if (code == -2) {
      return new FfiException("EnvironmentError", "an error of the environment is set", kernel);
    }
    try (Memory out = new Memory(8)) {
      out.clear();
      FfiNatives.errorMoveFromRaised(Pointer.nativeValue(out));
      Pointer error = out.getPointer(0);
      if (error == null) {
        return new FfiException("InternalError", "returned " + code + " and set no error", kernel);
      }
      String kind = text(error, 24);
      String message = text(error, 40);
      String backtrace = text(error, 56);
      FfiNatives.objectDecRef(Pointer.nativeValue(error));
      return new FfiException(kind, message, kernel, backtrace);
    }
  }

  private static String text(Pointer error, long offset) {
    Pointer start = error.getPointer(offset);
    int length = Math.toIntExact(error.getLong(offset + 8));
    return start == null || length == 0
        ? ""
        : new String(start.getByteArray(0, length), StandardCharsets.UTF_8);
  }

  /** Drops a reference to an object whose memory queued work may still use. */
  void release(long object) {
    runtime.drain(runtime.currentDeviceIndex());
    FfiNatives.objectDecRef(object);
  }
}
