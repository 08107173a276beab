package io.musabench.bindings.management;

import java.util.OptionalDouble;

/**
 * A link from a device to another one: MTLink or NVLink.
 *
 * @param index the library's number of the link
 * @param state {@code up}, {@code down}, {@code downgraded} or {@code unknown}
 * @param gigabytesPerSecond the link's bandwidth by its specification
 */
public record DeviceLink(int index, String state, OptionalDouble gigabytesPerSecond) {}
