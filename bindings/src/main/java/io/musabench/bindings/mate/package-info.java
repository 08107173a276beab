/**
 * mate, Moore Threads' attention kernels for MP31 (MTT S5000): names, search and calls.
 *
 * <p>Everything here is for mate 0.2.2 at commit 3f58cc3, read in its sources, and none of it has
 * run on a MUSA GPU: names are checked against hashes that a deployed serving engine carries, calls
 * against a test double that was written from the same reading. Other releases name some kernels
 * otherwise and pass the scheduler's metadata as one tensor; a kernel of theirs is either not found
 * or refuses the call with a TypeError, it does not compute something else.
 *
 * <p>{@link io.musabench.bindings.mate.FmhaConfig} says what is asked for and {@link
 * io.musabench.bindings.mate.FmhaNames} which kernels that takes.
 */
package io.musabench.bindings.mate;
