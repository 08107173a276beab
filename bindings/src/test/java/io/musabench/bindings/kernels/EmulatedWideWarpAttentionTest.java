package io.musabench.bindings.kernels;

import io.musabench.bindings.Target;
import io.musabench.bindings.TestTarget.On;

/** Warps of 128 threads, as an S4000 has. */
@On(Target.Kind.HOST)
class EmulatedWideWarpAttentionTest extends EmulatedAttentionTest {
  @Override
  PortableKernels kernels() {
    return EmulatedKernels.open(128);
  }
}
