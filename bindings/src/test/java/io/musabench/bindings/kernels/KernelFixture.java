package io.musabench.bindings.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.bindings.TestTarget;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Ffi;
import io.musabench.bindings.ffi.PooledAllocator;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.reference.RandomFill;
import io.musabench.bindings.runtime.Stream;
import java.util.ArrayList;
import java.util.List;

/** Tensors, a stream and a pool for one check of a kernel; closing it closes them all. */
public final class KernelFixture implements AutoCloseable {
  /** Values as the kernel sees them, and the tensor that holds them. */
  public record Input(float[] values, Tensor tensor) {}

  public final Ffi ffi;
  public final PortableKernels kernels;
  public final Stream stream;
  public final PooledAllocator pool;
  private final List<Tensor> tensors = new ArrayList<>();
  private long seed;

  /** With the target's own kernels. */
  public KernelFixture(long seed) {
    this(TestTarget.open().kernels(), seed);
  }

  public KernelFixture(PortableKernels kernels, long seed) {
    ffi = TestTarget.open().ffi();
    this.kernels = kernels;
    this.seed = seed;
    stream = ffi.runtime().createStream();
    ffi.setStream(stream);
    pool = ffi.createPool();
    pool.use();
  }

  public Tensor keep(Tensor tensor) {
    tensors.add(tensor);
    return tensor;
  }

  /** Approximately normal numbers, rounded to the type. */
  public Input random(DType dtype, double scale, long... shape) {
    Tensor tensor = keep(ffi.allocate(dtype, shape));
    float[] values = RandomFill.values(seed++, 0, (int) tensor.elements(), scale);
    for (int i = 0; i < values.length; i++) {
      values[i] = dtype.round(values[i]);
    }
    tensor.copyFrom(values);
    return new Input(values, tensor);
  }

  /** An output: NaN everywhere (or -1), so that what is not written shows. */
  public Tensor output(DType dtype, long... shape) {
    Tensor tensor = keep(ffi.allocate(dtype, shape));
    tensor.poison();
    return tensor;
  }

  /** An output whose rows have a gap behind them; the gap must stay as it is. */
  public Tensor outputWithGaps(DType dtype, long rows, long columns, long gap) {
    Tensor whole = output(dtype, Math.max(rows, 1), columns + gap);
    return whole.slice(1, 0, columns).slice(0, 0, rows);
  }

  public Tensor ints(int... values) {
    return keep(ffi.allocate(DType.I32, values.length)).copyFrom(values);
  }

  public Tensor longs(long... values) {
    return keep(ffi.allocate(DType.I64, values.length)).copyFrom(values);
  }

  public void run(PreparedCall call) {
    call.launch();
    stream.synchronize();
  }

  /**
   * Every value within atol + rtol * |expected| of what is expected; equal infinities are equal.
   */
  public static void assertClose(
      String what, float[] actual, double[] expected, double atol, double rtol) {
    assertThat(actual).as(what).hasSameSizeAs(expected);
    for (int i = 0; i < actual.length; i++) {
      boolean close =
          actual[i] == expected[i]
              || Math.abs(actual[i] - expected[i]) <= atol + rtol * Math.abs(expected[i]);
      if (!close) {
        throw new AssertionError(
            what
                + "["
                + i
                + "] of "
                + actual.length
                + " is "
                + actual[i]
                + ", wanted "
                + expected[i]
                + " within "
                + atol
                + " + "
                + rtol
                + " * |wanted|");
      }
    }
  }

  public static double atol(DType dtype) {
    return switch (dtype) {
      case BF16 -> 1.5e-2;
      case F16 -> 2e-3;
      default -> 1e-4;
    };
  }

  public static double rtol(DType dtype) {
    return switch (dtype) {
      case BF16 -> 1e-2;
      case F16 -> 2e-3;
      default -> 1e-4;
    };
  }

  public static void assertClose(String what, Tensor actual, double[] expected) {
    assertClose(what, actual.toFloats(), expected, atol(actual.dtype()), rtol(actual.dtype()));
  }

  @Override
  public void close() {
    try {
      stream.synchronize();
      pool.close();
    } finally {
      tensors.forEach(Tensor::close);
      ffi.setStream(ffi.runtime().legacyStream());
      stream.close();
    }
  }
}
