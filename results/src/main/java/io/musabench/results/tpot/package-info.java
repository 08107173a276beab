/**
 * From step times to what a user of the service feels. What comes out is a prediction, and says
 * from what.
 */
package io.musabench.results.tpot;
