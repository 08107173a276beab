package io.musabench.jmh.device;

import io.musabench.bindings.Target;
import io.musabench.bindings.blas.Blas;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.PooledAllocator;
import io.musabench.bindings.ffi.StreamHold;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.PortableKernels;
import io.musabench.bindings.kernels.reference.RandomFill;
import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.runtime.Attribute;
import io.musabench.bindings.runtime.Stream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The device as one benchmark sees it: the target, one stream, and what is needed to make caches
 * cold.
 *
 * <p>Device state belongs to a thread, so open this on the thread that launches. Closing gives back
 * everything that was made on the device.
 */
public final class DeviceContext implements AutoCloseable {
  // Reading four times the last-level cache pushes everything else out of it, whatever the
  // replacement policy; GPUs that do not tell their cache's size have less than 64 MiB.
  private static final long CACHE_MULTIPLE = 4;
  private static final long ASSUMED_CACHE_BYTES = 64L << 20;
  private static final int EVICTION_STREAMS = 4;

  /**
   * System property: the longest time, in seconds, that the stream is held while a sample's
   * launches are queued; 0 does not hold it. Queueing takes a fraction of a millisecond.
   */
  public static final String HOLD_SECONDS = "musabench.hold.seconds";

  /**
   * System property: samples are dropped when the mean clock of their batch is below this share of
   * the device's highest; 0 drops none.
   */
  public static final String THROTTLE = "musabench.throttle";

  /**
   * System property: whether the user has locked the device's clock; it may then be far below the
   * highest without being throttled.
   */
  public static final String CLOCK_FIXED = "musabench.clock.fixed";

  private static final Duration HOLD_LIMIT =
      Duration.ofNanos((long) (1e9 * Double.parseDouble(System.getProperty(HOLD_SECONDS, "1"))));

  private final Target target;
  private final Stream stream;
  private final PortableKernels kernels;
  private final PooledAllocator pool;
  private final List<AutoCloseable> owned = new ArrayList<>();
  private final long cacheBytes;
  private Launch eviction;
  private double evictionNanos; // 0 until it is asked for
  private Blas blas;
  private Optional<StreamHold> hold;
  private boolean holdExpired;
  private DeviceWatch watch;

  private DeviceContext(Target target) {
    this.target = target;
    this.kernels = target.kernels();
    this.stream = target.runtime().createStream();
    target.ffi().setStream(stream);
    this.pool = target.ffi().createPool();
    pool.use();
    this.cacheBytes =
        target.runtime().currentDevice().findAttribute(Attribute.L2_CACHE_SIZE).stream()
            .asLongStream()
            .filter(bytes -> bytes > 0)
            .findFirst()
            .orElse(ASSUMED_CACHE_BYTES);
  }

  /** Opens the target that the system properties select. */
  public static DeviceContext open() {
    return new DeviceContext(Target.open());
  }

  /** The target. */
  public Target target() {
    return target;
  }

  /** The stream that everything is launched on. */
  public Stream stream() {
    return stream;
  }

  /** The portable kernels. */
  public PortableKernels kernels() {
    return kernels;
  }

  /** Where kernels that allocate take their memory from. */
  public PooledAllocator pool() {
    return pool;
  }

  /**
   * Hands over something to be closed with this, last first: above all what holds tensors of the
   * pool, which cannot be closed before them.
   */
  public void own(AutoCloseable resource) {
    owned.add(resource);
  }

  /**
   * The vendor's BLAS, on this stream.
   *
   * @throws UnavailableException if it does not load
   */
  Blas blas() {
    if (blas == null) {
      LibraryLoader loader = new LibraryLoader();
      blas =
          Blas.open(loader, target.ffi(), target.kind().vendor(), stream)
              .orElseThrow(
                  () ->
                      UnavailableException.notLoaded(
                          "the BLAS library", Blas.LIBRARY_PROPERTY, loader));
      own(blas);
    }
    return blas;
  }

  /** Size of the last-level cache in bytes, as the runtime tells it. */
  public long cacheBytes() {
    return cacheBytes;
  }

  /**
   * A call that empties the caches of what the benchmark uses.
   *
   * <p>It reads rather than writes: lines left dirty by a memset would be written back during the
   * span that is timed.
   */
  public Launch eviction() {
    if (eviction == null) {
      Tensor source = target.ffi().allocate(DType.U8, CACHE_MULTIPLE * cacheBytes);
      source.fillBytes((byte) 1); // Pages that were never written share one zero page.
      Tensor result = target.ffi().allocate(DType.F32, 1);
      eviction = Launch.of(kernels.readBandwidth(source, EVICTION_STREAMS, result));
    }
    return eviction;
  }

  /** How long {@link #eviction} takes, measured once, in nanoseconds. */
  double evictionNanos() {
    if (evictionNanos == 0) {
      try (Session trial = new Session(this)) {
        evictionNanos = trial.untimed(eviction()).span(List.of(eviction())).run()[0];
      }
    }
    return evictionNanos;
  }

  /** Takes it for so long: for tests. */
  void evictionNanos(double nanos) {
    evictionNanos = nanos;
  }

  /** Holds the stream while work is queued; empty where the target cannot, or nobody wants it. */
  Optional<StreamHold> hold() {
    if (hold == null) {
      hold =
          HOLD_LIMIT.isZero() ? Optional.empty() : StreamHold.of(target.ffi(), stream, HOLD_LIMIT);
    }
    return hold;
  }

  /** Before a program with holds. The stream has drained. */
  void armHold() {
    if (hold().isPresent() && !holdExpired) {
      hold.get().arm();
    }
  }

  /**
   * Whether a hold of the last program ended by its limit; only then, and from then on nothing is
   * held any more. The stream has drained.
   */
  boolean holdExpired() {
    boolean now = !holdExpired && hold().isPresent() && hold.get().expired() > 0;
    holdExpired |= now;
    return now;
  }

  /** What the reader must know of holding the stream; empty if it works. */
  List<String> holdNote() {
    if (holdExpired) {
      return List.of(
          "the stream was held while launches were queued, but the queue took no more before "
              + HOLD_LIMIT.toMillis()
              + " ms had passed: not held any more, times may include launch latency");
    }
    return hold().isPresent() || HOLD_LIMIT.isZero()
        ? List.of()
        : List.of("this runtime cannot hold a stream: short times may include launch latency");
  }

  /** Reads the device's clock beside samples. */
  DeviceWatch watch() {
    if (watch == null) {
      int device = target.runtime().currentDeviceIndex();
      watch =
          new DeviceWatch(
              target.monitor(device).monitor(),
              target.kind() != Target.Kind.HOST,
              DeviceWatch.throttleShare(),
              Boolean.getBoolean(CLOCK_FIXED));
    }
    return watch;
  }

  /** Reads something else in place of the device's own monitor: for tests. */
  void watch(DeviceWatch other) {
    watch = other;
  }

  /** Waits for everything queued; an error of that work is thrown here. */
  public void synchronize() {
    stream.synchronize();
  }

  /**
   * Checks the kernel that makes all random inputs: bit for bit what {@link RandomFill} gives.
   *
   * @throws WrongResultException when a value differs
   */
  public Agreement checkRandomFill(DType dtype, int count, long seed, double scale) {
    Tensor out = target.ffi().allocate(dtype, count);
    out.poison();
    kernels.randomFill(out, seed, scale).launch();
    synchronize();
    float[] actual = out.toFloats();
    for (int i = 0; i < count; i++) {
      float expected = dtype.round(RandomFill.value(seed, i, scale));
      if (Float.floatToIntBits(actual[i]) != Float.floatToIntBits(expected)) {
        throw new WrongResultException(
            "random_fill: element %d of %d is %g, not %g".formatted(i, count, actual[i], expected));
      }
    }
    return new Agreement(count, 0);
  }

  @Override
  public void close() {
    // After an error of the device the stream cannot be waited for; the process ends then.
    if (hold != null) {
      hold.ifPresent(StreamHold::open);
    }
    try {
      stream.synchronize();
      closeOwned();
    } finally {
      target.close();
    }
  }

  private void closeOwned() {
    for (int i = owned.size() - 1; i >= 0; i--) {
      try {
        owned.get(i).close();
      } catch (RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
    owned.clear();
  }
}
