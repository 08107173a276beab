package io.musabench.bindings.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;

/**
 * What a function returned: None, a number, a string, a tensor or an array of such values.
 *
 * <p>Closing the value that {@link ArgumentPacker#invoke} gave releases the object. Its elements
 * and tensors are views of it and end with it.
 */
public final class ReturnedValue implements AutoCloseable {
  private static final int OPAQUE_POINTER = 4;
  private static final int OBJECT_BEGIN = 64;
  private static final int SMALL_STRING = 11;
  private static final int STRING = 65;
  private static final int TENSOR = 70;
  private static final int ARRAY = 71;
  private static final int LIST = 75;
  private static final long PAYLOAD = 24; // behind an object's header

  private final Ffi ffi;
  private final Pointer any;
  private final long offset;
  private final ReturnedValue parent; // null for the value that owns the object
  private boolean closed;

  ReturnedValue(Ffi ffi, Pointer any, long offset, ReturnedValue parent) {
    this.ffi = ffi;
    this.any = any;
    this.offset = offset;
    this.parent = parent;
  }

  /** TVM-FFI's type index: 0 None, 1 int, 2 bool, 3 float, 65 string, 70 tensor, 71 array. */
  public int typeIndex() {
    requireOpen();
    return any.getInt(offset);
  }

  /** True for None, which a function without a result returns. */
  public boolean isNone() {
    return typeIndex() == ArgumentPacker.NONE;
  }

  /** The value of an int or bool. */
  public long asLong() {
    if (typeIndex() != ArgumentPacker.INT && typeIndex() != ArgumentPacker.BOOL) {
      throw wrongType("an integer");
    }
    return any.getLong(offset + 8);
  }

  /** The value of an opaque pointer. */
  public long asAddress() {
    if (typeIndex() != OPAQUE_POINTER) {
      throw wrongType("a pointer");
    }
    return any.getLong(offset + 8);
  }

  /** The value of a float, int or bool. */
  public double asDouble() {
    return typeIndex() == ArgumentPacker.FLOAT ? any.getDouble(offset + 8) : asLong();
  }

  /** The value of a string. */
  public String asString() {
    if (typeIndex() == SMALL_STRING) {
      return text(any, offset + 8, any.getInt(offset + 4));
    }
    if (typeIndex() == STRING) {
      Pointer object = any.getPointer(offset + 8);
      return text(object.getPointer(PAYLOAD), 0, object.getLong(PAYLOAD + 8));
    }
    throw wrongType("a string");
  }

  private static String text(Pointer start, long offset, long length) {
    byte[] bytes = length == 0 ? new byte[0] : start.getByteArray(offset, Math.toIntExact(length));
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /** The address of the object; this keeps the only reference. */
  long objectAddress() {
    if (typeIndex() < OBJECT_BEGIN) {
      throw wrongType("an object");
    }
    return any.getLong(offset + 8);
  }

  /** The tensor, a view of the returned memory. */
  public Tensor asTensor() {
    if (typeIndex() != TENSOR) {
      throw wrongType("a tensor");
    }
    Pointer tensor = any.getPointer(offset + 8).share(PAYLOAD);
    int rank = tensor.getInt(16);
    long[] shape = longs(tensor.getPointer(24), rank);
    Pointer strides = tensor.getPointer(32);
    return new Tensor(
        ffi,
        null,
        this::requireOpen,
        tensor.getInt(12),
        tensor.getLong(0) + tensor.getLong(40),
        DType.of(tensor.getByte(20) & 0xff, tensor.getByte(21) & 0xff),
        shape,
        strides == null ? Tensor.contiguousStrides(shape) : longs(strides, rank));
  }

  private static long[] longs(Pointer start, int count) {
    return count == 0 ? new long[0] : start.getLongArray(0, count);
  }

  /** The number of elements of an array. */
  public int size() {
    return Math.toIntExact(array().getLong(PAYLOAD + 8));
  }

  /** An element of an array. */
  public ReturnedValue get(int index) {
    if (index < 0 || index >= size()) {
      throw new IndexOutOfBoundsException(index + " of an array of " + size());
    }
    return new ReturnedValue(
        ffi, array().getPointer(PAYLOAD), (long) ArgumentPacker.ANY_BYTES * index, root());
  }

  private ReturnedValue root() {
    return parent == null ? this : parent;
  }

  private Pointer array() {
    if (typeIndex() != ARRAY && typeIndex() != LIST) {
      throw wrongType("an array");
    }
    return any.getPointer(offset + 8);
  }

  private IllegalStateException wrongType(String wanted) {
    return new IllegalStateException("returned value has type " + typeIndex() + ", not " + wanted);
  }

  private void requireOpen() {
    if (root().closed) {
      throw new IllegalStateException("returned value is closed");
    }
  }

  /** Releases the object, waiting for the streams that may still use a tensor in it. */
  @Override
  public void close() {
    if (parent != null || closed) {
      return;
    }
    boolean object = typeIndex() >= OBJECT_BEGIN;
    long handle = any.getLong(offset + 8);
    closed = true;
    if (object) {
      ffi.release(handle);
    }
    if (any instanceof Memory memory) {
      memory.close();
    }
  }
}
