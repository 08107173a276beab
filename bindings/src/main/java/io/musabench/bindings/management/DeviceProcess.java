package io.musabench.bindings.management;

import java.util.OptionalLong;

/**
 * A process that uses a device.
 *
 * @param pid its number, as the driver sees it: in a container it can be another one
 * @param name its command; {@code unknown} if it cannot be read
 * @param usedBytes device memory that it holds
 */
public record DeviceProcess(long pid, String name, OptionalLong usedBytes) {}
