/** Texts for people, made from a run directory. */
package io.musabench.results.report;
