/**
 * Statistics of timings: few, robust, each with its definition. Nothing here assumes a normal
 * distribution except where a name says so.
 */
package io.musabench.results.stats;
