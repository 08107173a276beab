/**
 * Numbered examples, to be read in order. Each but one is a program with a {@code main}; the tests
 * compile and run all of them on the host device. On a GPU they run as they are.
 */
package io.musabench.jmh.samples;
