package io.musabench.bindings.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.musabench.bindings.Target;
import io.musabench.bindings.TestTarget;
import io.musabench.bindings.load.LibraryLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The kernels that nvcc compiled, where it did; no GPU is needed to look at their library. */
class CudaKernelLibraryTest {
  @Test
  void shouldHaveEveryExport() {
    Path library = Target.nativeFolder().orElseThrow().resolve("libmusabench_kernels_cuda.so");
    assumeTrue(Files.exists(library), "skipped: there was no nvcc when the kernels were built");
    LibraryLoader loader = new LibraryLoader();
    var loaded = TestTarget.open().ffi().loadKernels(loader, List.of(library.toString()));
    assertThat(loaded).as("%s", loader.attempts()).isPresent();
    PortableKernels kernels = new PortableKernels(loaded.get());
    assertThat(PortableKernels.EXPORTS).allMatch(kernels::has);
  }
}
