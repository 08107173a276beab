package io.musabench.bindings.mate;

import io.musabench.bindings.ffi.Ffi;
import io.musabench.bindings.ffi.KernelFunction;
import io.musabench.bindings.ffi.KernelLibrary;
import io.musabench.bindings.ffi.PreparedCall;
import io.musabench.bindings.ffi.Tensor;
import io.musabench.bindings.load.LibraryLoader;
import io.musabench.bindings.load.LoadAttempt;
import io.musabench.bindings.load.LoadedLibrary;
import io.musabench.bindings.runtime.Attribute;
import io.musabench.bindings.runtime.Device;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * mate's attention kernels on the current device. Each is in a file of its own, loaded when it is
 * first asked for; one that is not there throws {@link MissingKernelException} and leaves the
 * others usable.
 *
 * <p>Kernels run on the calling thread's stream. Those that return tensors or need scratch take it
 * from the thread's {@link io.musabench.bindings.ffi.PooledAllocator}, in every call: without one
 * they raise a RuntimeError.
 */
public final class Mate {
  private static final String FLASH_ATTENTION_OPS = "flash_attention_ops";
  private static final String ASM = "flash_atten_varlen_asm";
  private static final int AOT_LEVEL = 1;

  private final Ffi ffi;
  private final MateInstallation installation;
  private final LibraryLoader loader = new LibraryLoader();
  private final Map<String, KernelLibrary> loaded = new HashMap<>();

  /** The kernels of an installation, called through an FFI library that is already loaded. */
  public Mate(Ffi ffi, MateInstallation installation) {
    this.ffi = ffi;
    this.installation = installation;
  }

  /**
   * Why mate's kernels cannot run on a device; empty if they can, or if it does not say what it is.
   */
  public static String reasonAgainst(Device device) {
    return reasonAgainst(
        device.toString(),
        device.findAttribute(Attribute.COMPUTE_CAPABILITY_MAJOR).orElse(0),
        device.findAttribute(Attribute.COMPUTE_CAPABILITY_MINOR).orElse(0));
  }

  // mate itself throws below 3.1, from inside a kernel's call.
  static String reasonAgainst(String device, int major, int minor) {
    boolean old = major < 3 || major == 3 && minor < 1;
    return major > 0 && old
        ? "mate's kernels need mp_31, and %s is mp_%d%d".formatted(device, major, minor)
        : "";
  }

  /** Where kernels are looked for. */
  public MateInstallation installation() {
    return installation;
  }

  /** The FFI that kernels are called through. */
  public Ffi ffi() {
    return ffi;
  }

  /** The kernels' files loaded so far, for the record of a run. */
  public synchronized List<LoadedLibrary> libraries() {
    return loaded.values().stream().map(KernelLibrary::library).toList();
  }

  /**
   * A kernel.
   *
   * @param library the file's name without {@code .so}
   * @param name the export's name
   * @param command what builds it, for the error's text
   */
  synchronized KernelFunction kernel(String library, String name, String command) {
    KernelLibrary found = loaded.get(library);
    if (found == null) {
      Optional<Path> file = installation.file(library);
      if (file.isEmpty()) {
        throw new MissingKernelException(
            name, "there is no file " + library + ".so", installation, command);
      }
      found =
          ffi.loadKernels(loader, List.of(file.get().toString()))
              .orElseThrow(
                  () ->
                      new MissingKernelException(
                          name, "it did not load: " + lastAttempt(), installation, command));
      loaded.put(library, found);
    }
    KernelLibrary present = found;
    return present
        .find(name)
        .orElseThrow(
            () ->
                new MissingKernelException(
                    name, present.library().path() + " does not export it", installation, command));
  }

  private LoadAttempt lastAttempt() {
    List<LoadAttempt> attempts = loader.attempts();
    return attempts.get(attempts.size() - 1);
  }

  /**
   * The names of the kernels that a configuration needs and that are not on this machine. Which
   * combine kernel it needs shows only when the forward kernel has run; the smallest stands for all
   * of them unless the configuration fixes the number of splits.
   *
   * @param backend as for {@link #attention}
   */
  public List<String> missing(FmhaConfig config, Backend backend) {
    List<String> files = new ArrayList<>();
    if (backend.resolve(config) == Backend.MUBIN) {
      files.add(FLASH_ATTENTION_OPS);
    } else {
      files.add(config.names().forward());
      if (config.metadata()) {
        files.add(config.names().metadata());
        files.add(config.names().combine(Math.max(config.numSplits(), 1)));
      }
    }
    return files.stream().filter(file -> installation.file(file).isEmpty()).toList();
  }

  /**
   * Attention as mate would run it. Prepares the calls and runs each once on the calling thread's
   * stream: how many splits there are is what a kernel returns, mate loads device code at the first
   * call, and the thread's pool has its blocks then. So prepare on the thread and stream that will
   * launch, with lengths and page table in place, and before a capture.
   *
   * @param backend AUTO: mate's own choice
   * @param softmaxScale factor of q·k
   * @return the calls, the caller's to close
   * @throws MissingKernelException if a kernel is not on this machine
   * @throws IllegalArgumentException if the tensors do not fit the configuration, or the backend
   *     cannot run it
   */
  public FmhaAttention attention(
      FmhaConfig config, Backend backend, FmhaTensors tensors, double softmaxScale) {
    Backend resolved = backend.resolve(config);
    tensors.check(config);
    return FmhaAttention.prepare(this, config, resolved, tensors, softmaxScale, null);
  }

  /**
   * As {@link #attention}, for a further layer of the same step: it reads the schedule of the
   * first, so the lengths must be the same tensors. Close the first last.
   *
   * @param first prepared for the same configuration and backend
   */
  public FmhaAttention furtherLayer(
      FmhaConfig config, FmhaAttention first, FmhaTensors tensors, double softmaxScale) {
    tensors.check(config);
    return FmhaAttention.prepare(this, config, first.backend(), tensors, softmaxScale, first);
  }

  /**
   * The assembler kernel: dense, or with ragged queries and keys. It allocates nothing. Head
   * dimensions are 192/128 or equal and at most 128.
   *
   * @param q X [B, Sq, Hq, Dqk] or [Tq, Hq, Dqk]
   * @param k X [B, Sk, Hkv, Dqk] or [Tk, Hkv, Dqk]
   * @param v X [B, Sk, Hkv, Dv] or [Tk, Hkv, Dv]
   * @param out X [B, Sq, Hq, Dv] or [Tq, Hq, Dv], contiguous
   * @param lse F32 [B, Hq, Sq] or [Hq, Tq], contiguous
   * @param cuSeqlensQ I32 [B+1]; null, and the next three too: dense
   */
  public PreparedCall flashAttenVarlenAsm(
      Tensor q,
      Tensor k,
      Tensor v,
      double softmaxScale,
      Tensor out,
      Tensor lse,
      boolean causal,
      Tensor cuSeqlensQ,
      Tensor cuSeqlensK,
      Integer maxSeqlenQ,
      Integer maxSeqlenK) {
    return kernel(FLASH_ATTENTION_OPS, ASM, BuildCommands.aot(AOT_LEVEL))
        .arguments()
        .tensor(q)
        .tensor(k)
        .tensor(v)
        .floating(softmaxScale)
        .tensor(out)
        .tensor(lse)
        .bool(causal)
        .optionalTensor(cuSeqlensQ)
        .optionalTensor(cuSeqlensK)
        .optionalInteger(maxSeqlenQ == null ? null : (long) maxSeqlenQ)
        .optionalInteger(maxSeqlenK == null ? null : (long) maxSeqlenK)
        .prepare();
  }

  /** Multi-head latent attention. */
  public MlaKernels mla() {
    return new MlaKernels(this);
  }
}
