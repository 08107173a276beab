/** Times of a case from run to run, and where they changed. */
package io.musabench.results.history;
