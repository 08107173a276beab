package io.musabench.bindings.runtime;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The runtime's error codes. MUSA and CUDA give them the same values. */
public enum ErrorCode {
  SUCCESS(0),
  INVALID_VALUE(1),
  MEMORY_ALLOCATION(2),
  INITIALIZATION_ERROR(3),
  RUNTIME_UNLOADING(4),
  INVALID_CONFIGURATION(9),
  INVALID_MEMCPY_DIRECTION(21),
  STUB_LIBRARY(34),
  INSUFFICIENT_DRIVER(35),
  CALL_REQUIRES_NEWER_DRIVER(36),
  DEVICES_UNAVAILABLE(46),
  MISSING_CONFIGURATION(52),
  INVALID_DEVICE_FUNCTION(98),
  NO_DEVICE(100),
  INVALID_DEVICE(101),
  INVALID_KERNEL_IMAGE(200),
  DEVICE_UNINITIALIZED(201),
  NO_KERNEL_IMAGE_FOR_DEVICE(209),
  ECC_UNCORRECTABLE(214),
  PEER_ACCESS_UNSUPPORTED(217),
  LINK_UNCORRECTABLE(220),
  FILE_NOT_FOUND(301),
  SHARED_OBJECT_SYMBOL_NOT_FOUND(302),
  OPERATING_SYSTEM(304),
  INVALID_RESOURCE_HANDLE(400),
  SYMBOL_NOT_FOUND(500),
  NOT_READY(600),
  ILLEGAL_ADDRESS(700),
  LAUNCH_OUT_OF_RESOURCES(701),
  LAUNCH_TIMEOUT(702),
  PEER_ACCESS_ALREADY_ENABLED(704),
  ASSERT(710),
  HOST_MEMORY_ALREADY_REGISTERED(712),
  HOST_MEMORY_NOT_REGISTERED(713),
  MISALIGNED_ADDRESS(716),
  LAUNCH_FAILURE(719),
  COOPERATIVE_LAUNCH_TOO_LARGE(720),
  NOT_PERMITTED(800),
  NOT_SUPPORTED(801),
  SYSTEM_NOT_READY(802),
  SYSTEM_DRIVER_MISMATCH(803),
  STREAM_CAPTURE_UNSUPPORTED(900),
  STREAM_CAPTURE_INVALIDATED(901),
  STREAM_CAPTURE_MERGE(902),
  STREAM_CAPTURE_UNMATCHED(903),
  STREAM_CAPTURE_UNJOINED(904),
  STREAM_CAPTURE_ISOLATION(905),
  STREAM_CAPTURE_IMPLICIT(906),
  CAPTURED_EVENT(907),
  STREAM_CAPTURE_WRONG_THREAD(908),
  TIMEOUT(909),
  GRAPH_EXEC_UPDATE_FAILURE(910),
  INVALID_CLUSTER_SIZE(912),
  UNKNOWN(999);

  private static final Map<Integer, ErrorCode> BY_CODE =
      Arrays.stream(values()).collect(Collectors.toMap(ErrorCode::code, Function.identity()));

  private final int code;

  ErrorCode(int code) {
    this.code = code;
  }

  /** The runtime's number for this error. */
  public int code() {
    return code;
  }

  /** The constant for a runtime's number; empty for a number this project does not know. */
  public static Optional<ErrorCode> of(int code) {
    return Optional.ofNullable(BY_CODE.get(code));
  }

  /**
   * True for an error after which the process must be given up: every later call returns it again.
   */
  public boolean isSticky() {
    return switch (this) {
      case ILLEGAL_ADDRESS, LAUNCH_TIMEOUT, ASSERT, MISALIGNED_ADDRESS, LAUNCH_FAILURE -> true;
      default -> code >= 714 && code <= 719;
    };
  }
}
