package io.musabench.bindings.runtime;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;

/** One device of the runtime: its number and what the runtime says about it. Owns nothing. */
public final class Device {
  // The structure is longer in newer SDKs; a larger buffer is safe with all of them, and only the
  // two fields that never moved are read.
  private static final int PROPERTIES_BYTES = 4096;
  private static final int NAME_BYTES = 256;
  private static final int TOTAL_MEMORY_OFFSET = 288;

  private final DeviceRuntime runtime;
  private final int index;
  private final String name;
  private final long totalMemory;

  Device(DeviceRuntime runtime, int index) {
    this.runtime = runtime;
    this.index = index;
    try (Memory properties = new Memory(PROPERTIES_BYTES)) {
      properties.clear();
      runtime.readProperties(properties, index);
      byte[] text = properties.getByteArray(0, NAME_BYTES);
      int length = 0;
      while (length < text.length && text[length] != 0) {
        length++;
      }
      name = new String(text, 0, length, StandardCharsets.UTF_8).strip();
      totalMemory = properties.getLong(TOTAL_MEMORY_OFFSET);
    }
  }

  /** The runtime's number for this device, from 0. */
  public int index() {
    return index;
  }

  /** The device's name as the runtime gives it. */
  public String name() {
    return name;
  }

  /** Bytes of device memory. */
  public long totalMemory() {
    return totalMemory;
  }

  /**
   * Reads an attribute, in the unit documented at the constant.
   *
   * @throws DeviceException if the runtime does not know the attribute
   */
  public int attribute(Attribute attribute) {
    Pointer value = runtime.scratch();
    runtime.check(
        RuntimeNatives.deviceGetAttribute(Pointer.nativeValue(value), attribute.code(), index),
        "deviceGetAttribute");
    return value.getInt(0);
  }

  /** Reads an attribute; empty if the runtime does not know it. */
  public OptionalInt findAttribute(Attribute attribute) {
    Pointer value = runtime.scratch();
    int code =
        RuntimeNatives.deviceGetAttribute(Pointer.nativeValue(value), attribute.code(), index);
    if (code != 0) {
      RuntimeNatives.getLastError(); // or a later check of the last error would find this one
      return OptionalInt.empty();
    }
    return OptionalInt.of(value.getInt(0));
  }

  /** The PCI bus id, for example {@code 0000:3b:00.0}; empty for a device that is on no bus. */
  public Optional<String> pciBusId() {
    try (Memory text = new Memory(64)) {
      text.clear();
      int code = RuntimeNatives.deviceGetPCIBusId(Pointer.nativeValue(text), 64, index);
      if (code == ErrorCode.NOT_SUPPORTED.code()) {
        RuntimeNatives.getLastError();
        return Optional.empty();
      }
      runtime.check(code, "deviceGetPCIBusId");
      return Optional.of(text.getString(0));
    }
  }

  @Override
  public String toString() {
    return "device " + index + " (" + name + ")";
  }
}
