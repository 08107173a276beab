/**
 * When a sampling session has enough samples.
 *
 * <p>A criterion is a plug-in: implement {@link
 * io.musabench.results.stopping.StoppingCriterionProvider}, name the class in {@code
 * META-INF/services/io.musabench.results.stopping.StoppingCriterionProvider} of a jar, and put the
 * jar on the class path ({@code MUSABENCH_CLASSPATH} of {@code scripts/musabench}). {@code --stop
 * name:argument} then chooses it.
 */
package io.musabench.results.stopping;
