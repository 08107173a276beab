package io.musabench.jmh.device;

import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.kernels.PortableKernels;
import io.musabench.bindings.runtime.MemoryBlock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;

/**
 * Makes the tensors of one copy of a workload.
 *
 * <p>Contents follow from the seed alone: the n-th random tensor of a seed is always the same.
 * Nothing is zero, because zeros are faster than anything a user would compute with.
 *
 * <p>Copies may {@link Activations share} what kernels of a step hand to each other; then each copy
 * has weights and caches of its own, as the layers of a model do, and all else in common.
 */
public final class Inputs {
  /** What a norm adds to the mean square where no model says otherwise: Qwen3's value. */
  private static final double EPSILON = 1e-6;

  private final DeviceContext context;
  private final DType dtype;
  private final Random random;
  private final Activations shared; // null: this copy shares nothing
  private int nextShared;
  private long sharedBytes;
  private long bytes;

  /** Activations and results that the copies of a workload have in common, in the order of use. */
  static final class Activations {
    private final List<Tensor> tensors = new ArrayList<>();
  }

  /**
   * @param dtype type of activations and weights
   * @param seed where all random values come from
   */
  public Inputs(DeviceContext context, DType dtype, long seed) {
    this(context, dtype, seed, null);
  }

  /**
   * A copy that shares.
   *
   * @param shared what the copies before have made; null to share nothing
   */
  Inputs(DeviceContext context, DType dtype, long seed, Activations shared) {
    this.context = context;
    this.dtype = dtype;
    this.random = new Random(seed);
    this.shared = shared;
  }

  /** The kernels to call. */
  public PortableKernels kernels() {
    return context.kernels();
  }

  /** The kernels with their shapes and checks. */
  public KernelCases cases() {
    return new KernelCases(context.kernels(), EPSILON);
  }

  /** As {@link #cases()} with another library's matrix products. */
  public KernelCases cases(MatrixProducts products) {
    return new KernelCases(context.kernels(), products, EPSILON);
  }

  /** The device. */
  public DeviceContext context() {
    return context;
  }

  /** Type of activations and weights. */
  public DType dtype() {
    return dtype;
  }

  /** Where anything else that is random comes from, such as the order of pages. */
  public Random random() {
    return random;
  }

  /** Bytes of all tensors made so far. */
  public long bytes() {
    return bytes;
  }

  /** Bytes of the tensors of this copy that no other copy has. */
  long ownBytes() {
    return bytes - sharedBytes;
  }

  /** Normally distributed values with the given standard deviation. */
  public Tensor random(double scale, long... shape) {
    return random(dtype, scale, shape);
  }

  /** Normally distributed values of another type than the workload's. */
  public Tensor random(DType type, double scale, long... shape) {
    Tensor tensor = allocate(type, shape);
    kernels().randomFill(tensor, random.nextInt(Integer.MAX_VALUE), scale).launch();
    return tensor;
  }

  /**
   * Weights of a projection with {@code inputs} input features: {@code outputs} rows of {@code
   * inputs}, scaled so that the output has about the variance of the input.
   */
  public Tensor projection(long outputs, long inputs) {
    return random(1 / Math.sqrt(inputs), outputs, inputs);
  }

  /**
   * What the kernel before would have written: normally distributed values of standard deviation 1,
   * shared where copies share.
   */
  public Tensor activation(long... shape) {
    return shared(dtype, shape, () -> random(1, shape));
  }

  /** A tensor for results, in the workload's type; shared where copies share. */
  public Tensor output(long... shape) {
    return output(dtype, shape);
  }

  /** A tensor for results of another type than the workload's; shared where copies share. */
  public Tensor output(DType type, long... shape) {
    return shared(type, shape, () -> allocate(type, shape));
  }

  // The n-th shared tensor of every copy is the same one: all copies are built alike.
  private Tensor shared(DType type, long[] shape, Supplier<Tensor> make) {
    if (shared == null) {
      return make.get();
    }
    if (nextShared == shared.tensors.size()) {
      long before = bytes;
      shared.tensors.add(make.get());
      sharedBytes += bytes - before;
    }
    Tensor tensor = shared.tensors.get(nextShared++);
    if (tensor.dtype() != type || !Arrays.equals(tensor.shape(), shape)) {
      throw new IllegalStateException("copies of a workload were built in different ways");
    }
    return tensor;
  }

  /** Bytes of random content; a last incomplete group of four is left undefined. */
  public Tensor bytes(long count) {
    return bytes(context.target().runtime().allocate(count));
  }

  /** Bytes of random content in page-locked host memory; otherwise as {@link #bytes(long)}. */
  public Tensor hostBytes(long count) {
    return bytes(context.target().runtime().allocateHost(count));
  }

  private Tensor bytes(MemoryBlock memory) {
    long count = memory.bytes();
    bytes += count;
    // No kernel fills bytes: the block is filled as floats first, and their bytes are as random.
    Tensor floats = context.target().ffi().wrap(memory, 0, DType.F32, count / Float.BYTES);
    kernels().randomFill(floats, random.nextInt(Integer.MAX_VALUE), 1).launch();
    return context.target().ffi().wrap(memory, 0, DType.U8, count);
  }

  /** A vector of 32-bit integers. */
  public Tensor ints(int... values) {
    return allocate(DType.I32, values.length).copyFrom(values);
  }

  /** A vector of 64-bit integers. */
  public Tensor longs(long... values) {
    return allocate(DType.I64, values.length).copyFrom(values);
  }

  private Tensor allocate(DType type, long... shape) {
    Tensor tensor = context.target().ffi().allocate(type, shape);
    bytes += tensor.bytes();
    return tensor;
  }
}
