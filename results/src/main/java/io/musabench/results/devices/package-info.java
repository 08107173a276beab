/**
 * Data sheets of devices: what the maker or others say of them, figure by figure with its source.
 */
package io.musabench.results.devices;
