/**
 * The device that this JVM uses: {@link io.musabench.bindings.Target} finds and loads its
 * libraries.
 */
package io.musabench.bindings;
