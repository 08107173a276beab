/**
 * What a number means. Pure Java: nothing here loads a native library, so everything can be used
 * and tested away from the device.
 */
package io.musabench.results;
