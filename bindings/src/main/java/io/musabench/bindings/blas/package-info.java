/** Matrix products of the vendor's BLAS: muBLAS or cuBLAS, the same calls under another prefix. */
package io.musabench.bindings.blas;
