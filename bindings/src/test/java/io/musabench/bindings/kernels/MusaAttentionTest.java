package io.musabench.bindings.kernels;

import io.musabench.bindings.Target;
import io.musabench.bindings.TestTarget.On;
import org.junit.jupiter.api.Tag;

@Tag("musa-target")
@On(Target.Kind.MUSA)
class MusaAttentionTest extends AttentionContractTest {}
