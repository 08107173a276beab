/**
 * How often verdicts are wrong, by simulation: known noise, known change, recorded seeds. The model
 * is a model: it shows what a rule does to the noise it describes, not what a device does.
 */
package io.musabench.results.calibration;
