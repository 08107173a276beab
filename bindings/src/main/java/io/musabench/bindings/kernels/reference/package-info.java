/**
 * What every portable kernel must compute, in double precision over plain Java arrays.
 *
 * <p>Inputs are {@code float} arrays that hold the values the kernel sees, that is, already rounded
 * to its element type. Functions that give a single row or element serve sampled checks of cases
 * too large to compute whole.
 */
package io.musabench.bindings.kernels.reference;
