package io.musabench.bindings.ffi;

import io.musabench.bindings.load.LoadedLibrary;
import java.util.Optional;
import java.util.OptionalLong;

/** A library of kernels exported by the TVM-FFI ABI: ours, or one of mate's. Stays loaded. */
public final class KernelLibrary {
  private static final String PREFIX = "__tvm_ffi_";

  private final Ffi ffi;
  private final LoadedLibrary library;

  KernelLibrary(Ffi ffi, LoadedLibrary library) {
    this.ffi = ffi;
    this.library = library;
  }

  /** The file and its digest. */
  public LoadedLibrary library() {
    return library;
  }

  /** The FFI that its kernels are called through. */
  public Ffi ffi() {
    return ffi;
  }

  /** A kernel by name; empty if the library does not export it. */
  public Optional<KernelFunction> find(String name) {
    OptionalLong address = library.find(PREFIX + name);
    return address.isEmpty()
        ? Optional.empty()
        : Optional.of(new KernelFunction(ffi, name, address.getAsLong()));
  }

  /** A kernel by name; throws {@link UnsatisfiedLinkError} if the library does not export it. */
  public KernelFunction function(String name) {
    return find(name)
        .orElseThrow(
            () ->
                new UnsatisfiedLinkError(
                    library.path() + " exports no kernel " + name + " (" + PREFIX + name + ")"));
  }
}
