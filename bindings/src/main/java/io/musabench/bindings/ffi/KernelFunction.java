package io.musabench.bindings.ffi;

/** An exported kernel: the symbol {@code __tvm_ffi_<name>} of a library. Owns nothing. */
public final class KernelFunction {
  private final Ffi ffi;
  private final String name;
  private final long address;

  KernelFunction(Ffi ffi, String name, long address) {
    this.ffi = ffi;
    this.name = name;
    this.address = address;
  }

  /** The kernel's name, without the symbol's prefix. */
  public String name() {
    return name;
  }

  /** The address of the exported function. */
  public long address() {
    return address;
  }

  /** Starts an argument list. */
  public ArgumentPacker arguments() {
    return new ArgumentPacker(this);
  }

  Ffi ffi() {
    return ffi;
  }

  @Override
  public String toString() {
    return name;
  }
}
