package io.musabench.bindings.kernels;

import io.musabench.bindings.Target;
import io.musabench.bindings.TestTarget.On;

@On(Target.Kind.HOST)
class EmulatedLayerTest extends LayerContractTest {
  @Override
  PortableKernels kernels() {
    return EmulatedKernels.open(32);
  }
}
