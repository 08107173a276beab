/**
 * What a user asks of the model of TPOT, answered: validation, sensitivity, attribution, gain of
 * graphs, another device, and what a table alone lets one know. Each answer is text and JSON.
 */
package io.musabench.results.tpot.answers;
