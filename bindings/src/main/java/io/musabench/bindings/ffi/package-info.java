/**
 * Calling kernels by the TVM-FFI ABI: tensors, packed argument lists, prepared calls, programs.
 *
 * <p>A call is packed once into native memory ({@link io.musabench.bindings.ffi.ArgumentPacker})
 * and launched many times ({@link io.musabench.bindings.ffi.PreparedCall}); a {@link
 * io.musabench.bindings.ffi.Program} queues a whole timing session with one crossing from Java.
 */
package io.musabench.bindings.ffi;
