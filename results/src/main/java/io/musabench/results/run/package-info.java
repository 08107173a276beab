/**
 * A run directory: what was measured, where and how, in files that other tools can read.
 *
 * <ul>
 *   <li>{@code jmh.json}: plain JMH JSON
 *   <li>{@code cases.csv}: one row a case, units in the column names
 *   <li>{@code parts.csv}: the kernels of each step, measured one by one
 *   <li>{@code samples.csv}: every sample
 *   <li>{@code environment.json}: device, libraries, versions and machine
 * </ul>
 *
 * <p>Files are written whole or not at all. The CSV files name their schema version in their first
 * column, the JSON file in its first field.
 */
package io.musabench.results.run;
