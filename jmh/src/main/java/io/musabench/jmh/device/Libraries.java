package io.musabench.jmh.device;

import io.musabench.bindings.Target;
import io.musabench.bindings.blas.Blas;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.mate.Mate;
import io.musabench.bindings.mate.MateInstallation;
import java.util.ArrayList;
import java.util.List;

/** Values of the parameter {@code library}: whose kernels a case runs. */
public final class Libraries {
  /** Name of the parameter. */
  public static final String PARAMETER = "library";

  /** Every library that there is here: the suite makes a case for each before anything runs. */
  public static final String AUTO = "auto";

  /** This project's own kernels. */
  public static final String PORTABLE = "portable";

  /** mate's attention kernels. */
  public static final String MATE = "mate";

  /** The vendor's BLAS. */
  public static final String BLAS = "blas";

  private Libraries() {}

  /** The libraries that are on this machine besides the portable one. */
  static List<String> present(Target target) {
    List<String> present = new ArrayList<>();
    if (target.kind() == Target.Kind.MUSA
        && Mate.reasonAgainst(target.runtime().currentDevice()).isEmpty()
        && target.mate().installation().folders().stream()
            .anyMatch(folder -> MateInstallation.count(folder) > 0)) {
      present.add(MATE);
    }
    if (hasBlas(target)) {
      present.add(BLAS);
    }
    return present;
  }

  // The host has a BLAS only where one is named: it is no device that a vendor has one for.
  private static boolean hasBlas(Target target) {
    boolean named = !System.getProperty(Blas.LIBRARY_PROPERTY, "").isBlank();
    return (named || target.kind() != Target.Kind.HOST)
        && Blas.load(new LibraryLoader(), target.kind().vendor()).isPresent();
  }

  /**
   * The matrix products of a library; {@code auto} is the vendor's BLAS where there is one.
   *
   * @throws UnavailableException if the library is not here
   */
  public static MatrixProducts products(String library, Inputs inputs) {
    DeviceContext context = inputs.context();
    if (library.equals(BLAS) || library.equals(AUTO) && hasBlas(context.target())) {
      return new BlasProducts(context.blas());
    }
    return context.kernels()::gemm;
  }

  private record BlasProducts(Blas blas) implements MatrixProducts {
    @Override
    public PreparedCall gemm(Tensor a, Tensor b, Tensor out, Tensor bias) {
      if (bias != null) {
        throw new UnavailableException(
            "GemmEx adds no bias, and this model has one; library=portable (of a step,"
                + " gemm=portable) does");
      }
      return blas.gemm(a, b, out);
    }

    @Override
    public List<String> notes() {
      return List.of("matrix products by " + blas.library().path());
    }
  }

  /**
   * The attention kernels of a library.
   *
   * @param splits parts of the KV length for the portable kernels; 0: heuristic
   * @param mate what to ask of mate
   * @throws UnavailableException if mate cannot run on this target
   */
  public static AttentionKernels attention(
      String library, Inputs inputs, int splits, MateOptions mate) {
    return library.equals(MATE)
        ? new MateAttention(inputs, mate)
        : new PortableAttention(inputs, splits);
  }
}
