package io.musabench.bindings.collective;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import io.musabench.bindings.ffi.ArgumentPacker;
import io.musabench.bindings.ffi.DType;
import io.musabench.bindings.ffi.Ffi;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.load.LoadedLibrary;
import io.musabench.bindings.runtime.Stream;
import io.musabench.bindings.runtime.Vendor;
import io.musabench.bindings.runtime.VendorLibraries;
import java.util.List;
import java.util.Optional;

/**
 * One communicator for each of several devices of this process, by MCCL or NCCL: rank i is on
 * device i.
 *
 * <p>The library is {@code -Dmusabench.collective.library} or found in the installation that {@code
 * -Dmusabench.musa.home} names, by the system's search and below the vendor's usual folder. Values
 * are those of {@code nccl.h} 2; MCCL's Python bindings have the same for types. That MCCL's
 * functions take NCCL's arguments is assumed.
 */
public final class Communicators implements AutoCloseable {
  /** Path of the collectives' library. */
  public static final String LIBRARY_PROPERTY = "musabench.collective.library";

  private static final int FLOAT16 = 6;
  private static final int FLOAT32 = 7;
  private static final int BFLOAT16 = 9;
  private static final int SUM = 0;

  private final Ffi ffi;
  private final String prefix;
  private final LoadedLibrary library;
  private final long[] handles;
  private boolean closed;

  private Communicators(Ffi ffi, String prefix, LoadedLibrary library, int ranks) {
    this.ffi = ffi;
    this.prefix = prefix;
    this.library = library;
    this.handles = new long[ranks];
    try (Memory out = new Memory((long) Long.BYTES * ranks);
        Memory devices = new Memory((long) Integer.BYTES * ranks)) {
      out.clear();
      for (int i = 0; i < ranks; i++) {
        devices.setInt((long) Integer.BYTES * i, i);
      }
      library.invoke(prefix + "CommInitAll", out, ranks, devices);
      out.read(0, handles, 0, ranks);
    }
  }

  /**
   * Loads the library and connects devices 0 to {@code ranks - 1}.
   *
   * @param loader records the attempts
   * @return empty if the library did not load
   * @throws IllegalStateException if it lacks a function or refuses one
   */
  public static Optional<Communicators> open(
      LibraryLoader loader, Ffi ffi, Vendor vendor, int ranks) {
    Api api = Api.of(vendor);
    return loader
        .load("collective", VendorLibraries.candidates(vendor, LIBRARY_PROPERTY, api.libraries()))
        .map(library -> new Communicators(ffi, api.prefix(), library, ranks));
  }

  /**
   * One vendor's names.
   *
   * @param libraries names and paths of the library, in the order in which they are tried
   * @param prefix of every function
   */
  private record Api(List<String> libraries, String prefix) {
    static Api of(Vendor vendor) {
      return switch (vendor) {
        case MUSA -> new Api(libraries("/usr/local/musa/lib/", "libmccl.so"), "mccl");
        case CUDA -> new Api(libraries("/usr/lib/x86_64-linux-gnu/", "libnccl.so"), "nccl");
      };
    }

    private static List<String> libraries(String folder, String name) {
      return List.of(name, folder + name, name + ".2", folder + name + ".2");
    }
  }

  /** The library's file. */
  public LoadedLibrary library() {
    return library;
  }

  /** {@code mcclAllReduce} or {@code ncclAllReduce}. */
  public String allReduceName() {
    return prefix + "AllReduce";
  }

  /**
   * The sum over all ranks, on every rank, as one group: launching it queues every rank's part on
   * the rank's stream.
   *
   * @param send X or F32, on device i for rank i, contiguous and of the same size everywhere
   * @param receive like it; may be the same tensors
   * @param streams of device i for rank i
   */
  public PreparedCall allReduce(List<Tensor> send, List<Tensor> receive, List<Stream> streams) {
    if (send.size() != handles.length
        || receive.size() != handles.length
        || streams.size() != handles.length) {
      throw new IllegalArgumentException("all-reduce of " + handles.length + " ranks");
    }
    DType type = send.get(0).dtype();
    ArgumentPacker arguments =
        ffi.supportFunction("mb_all_reduce", allReduceName())
            .arguments()
            .address(library.address(prefix + "GroupStart"))
            .address(library.address(allReduceName()))
            .address(library.address(prefix + "GroupEnd"))
            .integer(type(type))
            .integer(SUM);
    for (int rank = 0; rank < handles.length; rank++) {
      for (Tensor tensor : List.of(send.get(rank), receive.get(rank))) {
        if (tensor.dtype() != type
            || tensor.elements() != send.get(0).elements()
            || !tensor.isContiguous()) {
          throw new IllegalArgumentException(
              "all-reduce: rank " + rank + " has " + tensor + ", rank 0 " + send.get(0));
        }
      }
      arguments
          .tensor(send.get(rank))
          .tensor(receive.get(rank))
          .address(handles[rank])
          .address(streams.get(rank).handle());
    }
    return arguments.prepare();
  }

  private static int type(DType type) {
    return switch (type) {
      case F16 -> FLOAT16;
      case F32 -> FLOAT32;
      case BF16 -> BFLOAT16;
      default -> throw new IllegalArgumentException("no sum of " + type);
    };
  }

  /** Destroys the communicators. Wait for the streams, and close graphs that use them, before. */
  @Override
  public void close() {
    if (!closed) {
      closed = true;
      for (long handle : handles) {
        library.invoke(prefix + "CommDestroy", new Pointer(handle));
      }
    }
  }
}
