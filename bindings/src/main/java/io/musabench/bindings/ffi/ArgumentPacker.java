package io.musabench.bindings.ffi;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Collects the arguments of one call in ABI order and packs them into native memory. Each method
 * adds one argument; {@link #prepare} ends the list.
 *
 * <pre>{@code
 * PreparedCall call = library.function("gemm").arguments().tensor(a).tensor(b).tensor(out).prepare();
 * }</pre>
 */
public final class ArgumentPacker {
  // Type indices and layout of a TVMFFIAny: int32 type, uint32 zero, 8 bytes of value.
  static final int ANY_BYTES = 16;
  static final int NONE = 0;
  static final int INT = 1;
  static final int BOOL = 2;
  static final int FLOAT = 3;
  static final int POINTER = 4;
  static final int TENSOR_POINTER = 7;
  static final int RAW_STRING = 8;
  static final int TENSOR_OBJECT = 70;

  private final KernelFunction function;
  private final List<Argument> arguments = new ArrayList<>();
  private final List<Tensor> tensors = new ArrayList<>();
  private final List<Object> kept = new ArrayList<>(); // what the arguments point into

  private record Argument(int type, long bits) {}

  ArgumentPacker(KernelFunction function) {
    this.function = function;
  }

  /** A tensor, passed as a pointer to its DLTensor. */
  public ArgumentPacker tensor(Tensor tensor) {
    tensors.add(tensor);
    return add(TENSOR_POINTER, tensor.descriptorAddress());
  }

  /** A tensor, or None for null. */
  public ArgumentPacker optionalTensor(Tensor tensor) {
    return tensor == null ? none() : tensor(tensor);
  }

  /** An integer. */
  public ArgumentPacker integer(long value) {
    return add(INT, value);
  }

  /** An integer, or None for null. */
  public ArgumentPacker optionalInteger(Long value) {
    return value == null ? none() : integer(value);
  }

  /** A floating-point number. */
  public ArgumentPacker floating(double value) {
    return add(FLOAT, Double.doubleToRawLongBits(value));
  }

  /** A truth value. */
  public ArgumentPacker bool(boolean value) {
    return add(BOOL, value ? 1 : 0);
  }

  /** A string, kept in native memory as long as the call. */
  public ArgumentPacker string(String value) {
    byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
    Memory memory = new Memory(bytes.length + 1L);
    memory.write(0, bytes, 0, bytes.length);
    memory.setByte(bytes.length, (byte) 0);
    kept.add(memory);
    return add(RAW_STRING, Pointer.nativeValue(memory));
  }

  /**
   * A tensor that a function returned, passed as the object it is. For parameters that take no
   * pointer to a DLTensor because they may keep or return the tensor.
   *
   * @param value a tensor; a launch after it was closed throws {@link IllegalStateException}
   */
  public ArgumentPacker tensorObject(ReturnedValue value) {
    tensors.add(value.asTensor());
    kept.add(value);
    return add(TENSOR_OBJECT, value.objectAddress());
  }

  /** An address: of a function, or a handle of a library. What it means is the caller's to keep. */
  public ArgumentPacker address(long value) {
    return add(POINTER, value);
  }

  /** A call, passed as a pointer to its {@code mb_call}. */
  ArgumentPacker call(PreparedCall call) {
    tensors.addAll(List.of(call.tensors()));
    kept.add(call);
    return add(POINTER, call.address());
  }

  /** None: an optional argument that is left out. */
  public ArgumentPacker none() {
    return add(NONE, 0);
  }

  private ArgumentPacker add(int type, long bits) {
    arguments.add(new Argument(type, bits));
    return this;
  }

  /** Packs the arguments for launching many times. */
  public PreparedCall prepare() {
    return new PreparedCall(
        function, pack(), arguments.size(), tensors.toArray(new Tensor[0]), List.copyOf(kept));
  }

  /**
   * Calls the function once and keeps what it returns, the caller's to close. For functions that
   * answer with a value, and not for timed paths.
   *
   * @throws FfiException if the function raises an error
   */
  public ReturnedValue invoke() {
    return prepare().invoke();
  }

  /** The packed argument list: 16 bytes an argument; at least one element is allocated. */
  Memory pack() {
    Memory memory = new Memory((long) ANY_BYTES * Math.max(arguments.size(), 1));
    memory.clear();
    for (int i = 0; i < arguments.size(); i++) {
      memory.setInt((long) ANY_BYTES * i, arguments.get(i).type);
      memory.setLong((long) ANY_BYTES * i + 8, arguments.get(i).bits);
    }
    return memory;
  }
}
