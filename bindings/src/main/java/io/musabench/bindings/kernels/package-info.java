/** The portable kernels by name, and a reference of each in double precision. */
package io.musabench.bindings.kernels;
