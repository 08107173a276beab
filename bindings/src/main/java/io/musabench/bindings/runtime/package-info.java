/**
 * The device runtime (MUSA, CUDA or the host device) as small Java types.
 *
 * <p>{@link io.musabench.bindings.runtime.DeviceRuntime} is the entry. Handles are {@code long}s in
 * final {@link AutoCloseable} types; every return code is checked. What can stand in a timed path
 * ({@code Event.record}, {@code GraphExec.launch}, {@code Stream.synchronize}) is a direct-mapped
 * call with {@code long} arguments only and allocates nothing.
 */
package io.musabench.bindings.runtime;
