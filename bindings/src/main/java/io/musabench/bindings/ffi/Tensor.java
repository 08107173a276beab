package io.musabench.bindings.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.musabench.bindings.runtime.DeviceMemory;
import io.musabench.bindings.runtime.DeviceRuntime;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * A strided array in device memory, described by a native DLTensor with explicit strides.
 *
 * <p>Strides are in elements. A tensor made by {@link Ffi#allocate} owns its memory; a view shares
 * it and keeps nothing alive: once the owner is closed, every use of the view throws {@link
 * IllegalStateException}. Closing a view only ends the view.
 *
 * <p>The copies to and from Java arrays are in row-major order of the shape, whatever the strides.
 * They wait for the device's streams first, so what was launched before is seen, and they are not
 * for timed paths.
 */
public final class Tensor implements AutoCloseable {
  /** Bytes of a DLTensor. */
  static final int DESCRIPTOR_BYTES = 48;

  private static final int STAGING_BYTES = 4 << 20;

  /** A tensor whose memory is larger by this than what is in it is read run by run. */
  private static final int MOST_GAPS = 16;

  private final Ffi ffi;
  private final DeviceMemory owned; // null for a view
  private final Runnable requireStorage; // throws if the memory is gone
  private final int device;
  private final long address;
  private final DType dtype;
  private final long[] shape;
  private final long[] strides;
  private final Memory descriptor;
  private volatile boolean closed;

  Tensor(
      Ffi ffi,
      DeviceMemory owned,
      Runnable requireStorage,
      int device,
      long address,
      DType dtype,
      long[] shape,
      long[] strides) {
    this.ffi = ffi;
    this.owned = owned;
    this.requireStorage = requireStorage;
    this.device = device;
    this.address = address;
    this.dtype = dtype;
    this.shape = shape.clone();
    this.strides = strides.clone();
    this.descriptor = describe(ffi, device, dtype, address, shape, strides);
  }

  /** A DLTensor, with its shape and strides behind it. */
  static Memory describe(
      Ffi ffi, int device, DType dtype, long address, long[] shape, long[] strides) {
    int rank = shape.length;
    Memory memory = new Memory(DESCRIPTOR_BYTES + 16L * Math.max(rank, 1));
    memory.clear();
    long base = Pointer.nativeValue(memory);
    memory.setLong(0, address);
    memory.setInt(8, ffi.deviceType());
    memory.setInt(12, device);
    memory.setInt(16, rank);
    memory.setByte(20, (byte) dtype.code());
    memory.setByte(21, (byte) dtype.bits());
    memory.setShort(22, (short) 1);
    memory.setLong(24, base + DESCRIPTOR_BYTES);
    memory.setLong(32, base + DESCRIPTOR_BYTES + 8L * rank);
    memory.setLong(40, 0);
    for (int i = 0; i < rank; i++) {
      memory.setLong(DESCRIPTOR_BYTES + 8L * i, shape[i]);
      memory.setLong(DESCRIPTOR_BYTES + 8L * (rank + i), strides[i]);
    }
    return memory;
  }

  /** Row-major strides without gaps, in elements. */
  public static long[] contiguousStrides(long... shape) {
    long[] strides = new long[shape.length];
    long step = 1;
    for (int i = shape.length - 1; i >= 0; i--) {
      strides[i] = step;
      step *= Math.max(shape[i], 1);
    }
    return strides;
  }

  /** The product of the extents. */
  public static long elements(long... shape) {
    long count = 1;
    for (long extent : shape) {
      if (extent < 0) {
        throw new IllegalArgumentException("negative extent in " + Arrays.toString(shape));
      }
      count = Math.multiplyExact(count, extent);
    }
    return count;
  }

  /** Element type. */
  public DType dtype() {
    return dtype;
  }

  /** Number of dimensions. */
  public int rank() {
    return shape.length;
  }

  /** Extents, a copy. */
  public long[] shape() {
    return shape.clone();
  }

  /** One extent; a negative dimension counts from the end. */
  public long shape(int dimension) {
    return shape[dimension < 0 ? shape.length + dimension : dimension];
  }

  /** Strides in elements, a copy. */
  public long[] strides() {
    return strides.clone();
  }

  /** One stride in elements; a negative dimension counts from the end. */
  public long stride(int dimension) {
    return strides[dimension < 0 ? strides.length + dimension : dimension];
  }

  /** The number of elements. */
  public long elements() {
    return elements(shape);
  }

  /** {@link #elements} times the bytes of an element: what a kernel that uses all of it touches. */
  public long bytes() {
    return elements() * dtype.bytes();
  }

  /** True if the elements lie in row-major order without gaps. */
  public boolean isContiguous() {
    return elements() == 0 || innerRun() == elements();
  }

  /** The device address of the first element. */
  public long address() {
    requireOpen();
    return address;
  }

  /** The address of the native DLTensor, which lives as long as this object is reachable. */
  public long descriptorAddress() {
    requireOpen();
    return Pointer.nativeValue(descriptor);
  }

  /** Throws {@link IllegalStateException} if this or the memory's owner is closed. */
  public void requireOpen() {
    if (closed) {
      throw new IllegalStateException("tensor " + this + " is closed");
    }
    requireStorage.run();
  }

  // ---- views

  /** The part with indices {@code from} (inclusive) to {@code to} (exclusive) of a dimension. */
  public Tensor slice(int dimension, long from, long to) {
    if (from < 0 || to < from || to > shape[dimension]) {
      throw new IndexOutOfBoundsException(
          from + " to " + to + " of dimension " + dimension + " of " + this);
    }
    long[] extents = shape.clone();
    extents[dimension] = to - from;
    return view(from * strides[dimension], extents, strides);
  }

  /** One index of a dimension; the dimension is gone from the result. */
  public Tensor select(int dimension, long index) {
    if (index < 0 || index >= shape[dimension]) {
      throw new IndexOutOfBoundsException(index + " of dimension " + dimension + " of " + this);
    }
    return view(index * strides[dimension], without(shape, dimension), without(strides, dimension));
  }

  /** The same elements with another shape; this must be contiguous. */
  public Tensor reshape(long... extents) {
    if (elements(extents) != elements() || !isContiguous()) {
      throw new IllegalArgumentException(
          "cannot reshape " + this + " to " + Arrays.toString(extents));
    }
    return view(0, extents, contiguousStrides(extents));
  }

  /**
   * Any strided view of this tensor's memory.
   *
   * @param offset in elements from this tensor's first element
   */
  public Tensor view(long offset, long[] extents, long[] elementStrides) {
    if (extents.length != elementStrides.length || offset < 0) {
      throw new IllegalArgumentException(
          "bad view: offset "
              + offset
              + ", shape "
              + Arrays.toString(extents)
              + ", strides "
              + Arrays.toString(elementStrides));
    }
    long last = offset + span(extents, elementStrides);
    if (elements(extents) > 0 && last > span(shape, strides)) {
      throw new IndexOutOfBoundsException(
          "view reaches element " + last + " of " + span(shape, strides) + " of " + this);
    }
    requireOpen();
    return new Tensor(
        ffi,
        null,
        this::requireOpen,
        device,
        address + offset * dtype.bytes(),
        dtype,
        extents,
        elementStrides);
  }

  // Elements from the first to one past the last; 0 for an empty tensor.
  private static long span(long[] shape, long[] strides) {
    if (elements(shape) == 0) {
      return 0;
    }
    long last = 0;
    for (int i = 0; i < shape.length; i++) {
      last += (shape[i] - 1) * strides[i];
    }
    return last + 1;
  }

  private static long[] without(long[] values, int index) {
    long[] rest = new long[values.length - 1];
    System.arraycopy(values, 0, rest, 0, index);
    System.arraycopy(values, index + 1, rest, index, rest.length - index);
    return rest;
  }

  // ---- content

  /** Sets every byte, gaps between rows excepted, and waits. */
  public void fillBytes(byte value) {
    DeviceRuntime runtime = ffi.runtime();
    requireOpen();
    runtime.drain(device);
    long run = innerRun() * dtype.bytes();
    forEachRun(
        (offset, index, count) ->
            runtime.fillAsync(
                address + offset * dtype.bytes(), value, run, runtime.legacyStream()));
    runtime.drain(device);
  }

  /** Fills with bytes 0xFF: NaN in every floating type, -1 in I32 and I64. */
  public void poison() {
    fillBytes((byte) 0xff);
  }

  /** Sets all elements, rounding to this floating type. */
  public Tensor copyFrom(float... values) {
    requireLength(values.length);
    write(
        (buffer, first, count) -> {
          switch (dtype) {
            case BF16 -> {
              for (int i = 0; i < count; i++) {
                buffer.putShort(2 * i, DType.floatToBf16(values[first + i]));
              }
            }
            case F16 -> {
              for (int i = 0; i < count; i++) {
                buffer.putShort(2 * i, DType.floatToF16(values[first + i]));
              }
            }
            case F32 -> buffer.asFloatBuffer().put(values, first, count);
            default -> throw wrongType("float");
          }
        });
    return this;
  }

  /** Sets all elements of an I32 tensor. */
  public Tensor copyFrom(int... values) {
    requireLength(values.length);
    requireType(DType.I32, "int");
    write((buffer, first, count) -> buffer.asIntBuffer().put(values, first, count));
    return this;
  }

  /** Sets all elements of an I64 tensor. */
  public Tensor copyFrom(long... values) {
    requireLength(values.length);
    requireType(DType.I64, "long");
    write((buffer, first, count) -> buffer.asLongBuffer().put(values, first, count));
    return this;
  }

  /** Sets all elements of a U8 tensor. */
  public Tensor copyFrom(byte... values) {
    requireLength(values.length);
    requireType(DType.U8, "byte");
    write((buffer, first, count) -> buffer.put(0, values, first, count));
    return this;
  }

  /** All elements of a floating tensor. */
  public float[] toFloats() {
    float[] values = new float[Math.toIntExact(elements())];
    read(
        (buffer, first, count) -> {
          switch (dtype) {
            case BF16 -> {
              for (int i = 0; i < count; i++) {
                values[first + i] = DType.bf16ToFloat(buffer.getShort(2 * i));
              }
            }
            case F16 -> {
              for (int i = 0; i < count; i++) {
                values[first + i] = DType.f16ToFloat(buffer.getShort(2 * i));
              }
            }
            case F32 -> buffer.asFloatBuffer().get(values, first, count);
            default -> throw wrongType("float");
          }
        });
    return values;
  }

  /** All elements of an I32 tensor. */
  public int[] toInts() {
    requireType(DType.I32, "int");
    int[] values = new int[Math.toIntExact(elements())];
    read((buffer, first, count) -> buffer.asIntBuffer().get(values, first, count));
    return values;
  }

  /** All elements of an I64 tensor. */
  public long[] toLongs() {
    requireType(DType.I64, "long");
    long[] values = new long[Math.toIntExact(elements())];
    read((buffer, first, count) -> buffer.asLongBuffer().get(values, first, count));
    return values;
  }

  /** All elements of a U8 tensor. */
  public byte[] toBytes() {
    requireType(DType.U8, "byte");
    byte[] values = new byte[Math.toIntExact(elements())];
    read((buffer, first, count) -> buffer.get(0, values, first, count));
    return values;
  }

  /** CRC-32C of the bytes of all elements: equal contents have equal checksums. */
  public long checksum() {
    CRC32C sum = new CRC32C();
    read((buffer, first, count) -> sum.update(buffer.limit(count * dtype.bytes())));
    return sum.getValue();
  }

  /** Encodes or decodes {@code count} elements, from index {@code first} in row-major order. */
  private interface Transfer {
    void apply(ByteBuffer buffer, int first, int count);
  }

  private interface RunAction {
    void apply(long offset, long index, long count);
  }

  private void write(Transfer encode) {
    transfer(
        (staging, index, count, target) -> {
          encode.apply(buffer(staging), Math.toIntExact(index), count);
          ffi.runtime().copyToDevice(target, staging, (long) count * dtype.bytes());
        });
    // A copy from pageable memory may return before its last bytes are there, and our streams do
    // not wait for the legacy one, which it is on.
    ffi.runtime().drain(device);
  }

  private void read(Transfer decode) {
    long span = span(shape, strides);
    if (innerRun() < elements()
        && span <= STAGING_BYTES / dtype.bytes()
        && span <= MOST_GAPS * elements()) {
      readWithGaps(decode, span);
      return;
    }
    transfer(
        (staging, index, count, source) -> {
          ffi.runtime().copyToHost(staging, source, (long) count * dtype.bytes());
          decode.apply(buffer(staging), Math.toIntExact(index), count);
        });
  }

  // A copy takes microseconds whatever its size: one of everything is faster than one a run.
  private void readWithGaps(Transfer decode, long span) {
    requireOpen();
    ffi.runtime().drain(device);
    int bytes = dtype.bytes();
    try (Memory staging = new Memory(span * bytes)) {
      ffi.runtime().copyToHost(staging, address, span * bytes);
      ByteBuffer all = buffer(staging);
      forEachRun(
          (offset, index, count) -> {
            int from = Math.toIntExact(offset * bytes);
            ByteBuffer run = all.slice(from, Math.toIntExact(count * bytes)).order(all.order());
            decode.apply(run, Math.toIntExact(index), Math.toIntExact(count));
          });
    }
  }

  private interface Chunk {
    void apply(Memory staging, long index, int count, long address);
  }

  private void transfer(Chunk chunk) {
    requireOpen();
    if (elements() == 0) {
      return;
    }
    ffi.runtime().drain(device);
    long most = STAGING_BYTES / dtype.bytes();
    long staged = Math.min(most, innerRun());
    try (Memory staging = new Memory(staged * dtype.bytes())) {
      forEachRun(
          (offset, index, count) -> {
            for (long done = 0; done < count; done += staged) {
              int part = (int) Math.min(staged, count - done);
              chunk.apply(staging, index + done, part, address + (offset + done) * dtype.bytes());
            }
          });
    }
  }

  private static ByteBuffer buffer(Memory staging) {
    return staging.getByteBuffer(0, staging.size()).order(java.nio.ByteOrder.nativeOrder());
  }

  // The longest run of elements that lie side by side in memory and in row-major order.
  private long innerRun() {
    long run = 1;
    for (int i = shape.length - 1; i >= 0; i--) {
      if (shape[i] != 1 && strides[i] != run) {
        return run;
      }
      run *= shape[i];
    }
    return run;
  }

  private void forEachRun(RunAction action) {
    long total = elements();
    if (total == 0) {
      return;
    }
    long run = innerRun();
    for (long index = 0; index < total; index += run) {
      long rest = index;
      long offset = 0;
      for (int i = shape.length - 1; i >= 0; i--) {
        offset += rest % shape[i] * strides[i];
        rest /= shape[i];
      }
      action.apply(offset, index, run);
    }
  }

  private void requireLength(long length) {
    if (length != elements()) {
      throw new IllegalArgumentException(length + " values for " + this);
    }
  }

  private void requireType(DType wanted, String java) {
    if (dtype != wanted) {
      throw wrongType(java);
    }
  }

  private IllegalArgumentException wrongType(String java) {
    return new IllegalArgumentException(java + " values for " + this);
  }

  @Override
  public void close() {
    closed = true;
    if (owned != null) {
      owned.close();
    }
  }

  /** For example {@code BF16[4, 128]}. */
  @Override
  public String toString() {
    return dtype + Arrays.toString(shape);
  }
}
