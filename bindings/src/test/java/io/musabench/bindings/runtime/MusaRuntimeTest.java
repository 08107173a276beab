package io.musabench.bindings.runtime;

import io.musabench.bindings.Target;
import io.musabench.bindings.TestTarget.On;

@On(Target.Kind.MUSA)
class MusaRuntimeTest extends RuntimeContractTest {}
