package io.musabench.bindings.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import io.musabench.bindings.Target;
import io.musabench.bindings.TestTarget;
import io.musabench.bindings.load.LibraryLoader;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The device kernels compiled for the CPU, on the host target: the third kernel library. */
final class EmulatedKernels {
  private static final Map<Integer, PortableKernels> OPEN = new HashMap<>();

  private EmulatedKernels() {}

  /** The kernels with warps of {@code warp} threads: 32 or 128. */
  static synchronized PortableKernels open(int warp) {
    return OPEN.computeIfAbsent(warp, EmulatedKernels::load);
  }

  private static PortableKernels load(int warp) {
    Path library =
        Target.nativeFolder()
            .orElseThrow()
            .resolve("libmusabench_kernels_emulated%s.so".formatted(warp == 32 ? "" : "_" + warp));
    LibraryLoader loader = new LibraryLoader();
    var loaded = TestTarget.open().ffi().loadKernels(loader, List.of(library.toString()));
    assertThat(loaded).as("%s: %s", library, loader.attempts()).isPresent();
    return new PortableKernels(loaded.get());
  }
}
