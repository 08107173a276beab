package io.musabench.bindings.blas;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Ffi;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.load.LoadedLibrary;
import io.musabench.bindings.runtime.Stream;
import io.musabench.bindings.runtime.Vendor;
import io.musabench.bindings.runtime.VendorLibraries;
import java.util.Optional;

/**
 * A handle of muBLAS or cuBLAS on the current device, bound to one stream and with a workspace of
 * its own: without one the library allocates, which a capture forbids.
 *
 * <p>The library is {@code -Dmusabench.blas.library} or found in the installation that {@code
 * -Dmusabench.musa.home} names, by the system's search and below the vendor's usual folder.
 */
public final class Blas implements AutoCloseable {
  /** Path of the BLAS library. */
  public static final String LIBRARY_PROPERTY = "musabench.blas.library";

  // cuBLAS's documentation: 32 MiB on Hopper, less elsewhere. A workspace that is too large costs
  // memory, one that is too small a slower algorithm.
  private static final long WORKSPACE_BYTES = 32L << 20;

  private final Ffi ffi;
  private final BlasApi api;
  private final LoadedLibrary library;
  private final long gemmEx;
  private final Tensor workspace;
  private long handle;

  private Blas(Ffi ffi, BlasApi api, LoadedLibrary library) {
    this.ffi = ffi;
    this.api = api;
    this.library = library;
    this.gemmEx = library.address(api.prefix() + "GemmEx");
    try (Memory out = new Memory(Long.BYTES)) {
      out.clear();
      library.invoke(api.versioned("Create"), out);
      handle = out.getLong(0);
    }
    this.workspace = ffi.allocate(DType.U8, WORKSPACE_BYTES);
  }

  /**
   * Loads the library and makes a handle.
   *
   * @param loader records the attempts
   * @return empty if the library did not load
   * @throws IllegalStateException if it lacks a function or refuses one
   */
  public static Optional<Blas> open(LibraryLoader loader, Ffi ffi, Vendor vendor, Stream stream) {
    return load(loader, vendor)
        .map(
            library -> {
              Blas blas = new Blas(ffi, BlasApi.of(vendor), library);
              try {
                blas.bind(stream);
                return blas;
              } catch (RuntimeException refused) {
                blas.close();
                throw refused;
              }
            });
  }

  /** Whether the library loads; makes nothing on the device. */
  public static Optional<LoadedLibrary> load(LibraryLoader loader, Vendor vendor) {
    return loader.load(
        "blas",
        VendorLibraries.candidates(vendor, LIBRARY_PROPERTY, BlasApi.of(vendor).libraries()));
  }

  private void bind(Stream stream) {
    library.invoke(api.versioned("SetStream"), new Pointer(handle), new Pointer(stream.handle()));
    // After the stream: setting that gives the library its own workspace back. Older muBLAS has no
    // such function, and then must not be captured before it has run once.
    String setWorkspace = api.versioned("SetWorkspace");
    if (library.find(setWorkspace).isPresent()) {
      library.invoke(
          setWorkspace, new Pointer(handle), new Pointer(workspace.address()), WORKSPACE_BYTES);
    }
  }

  /** The library's file. */
  public LoadedLibrary library() {
    return library;
  }

  /**
   * {@code out[M, N] = a[M, K] · b[N, K]ᵀ} on the handle's stream, products and sums in FP32.
   *
   * @param a X [M, K], X BF16 or F16; rows may have a stride
   * @param b X [N, K]
   * @param out X or F32 [M, N]
   */
  public PreparedCall gemm(Tensor a, Tensor b, Tensor out) {
    if (a.dtype() != b.dtype() || a.dtype() == DType.F32) {
      throw new IllegalArgumentException(
          "gemm: a is " + a.dtype() + " and b " + b.dtype() + ", wanted BF16 or F16 in both");
    }
    if (out.dtype() != a.dtype() && out.dtype() != DType.F32) {
      throw new IllegalArgumentException("gemm: out is " + out.dtype() + " and a " + a.dtype());
    }
    return ffi.supportFunction("mb_gemm_ex", api.prefix() + "GemmEx")
        .arguments()
        .address(gemmEx)
        .address(handle)
        .tensor(a)
        .tensor(b)
        .tensor(out)
        .integer(api.asIs())
        .integer(api.transposed())
        .integer(BlasApi.type(a.dtype()))
        .integer(BlasApi.type(out.dtype()))
        .integer(BlasApi.COMPUTE_32F)
        .integer(api.algorithm())
        .prepare();
  }

  /** Destroys the handle; its calls cannot be launched any more. Wait for the stream before. */
  @Override
  public void close() {
    if (handle != 0) {
      library.invoke(api.versioned("Destroy"), new Pointer(handle));
      handle = 0;
      workspace.close();
    }
  }
}
