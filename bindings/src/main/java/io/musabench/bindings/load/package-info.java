/** Finding and loading shared libraries, with a record of what was tried. */
package io.musabench.bindings.load;
