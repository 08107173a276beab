#include "runtime/error.h"

namespace musabench {
namespace {

struct ErrorInfo {
  musaError_t code;
  const char* name;
  const char* text;
};

#define MUSABENCH_ERROR(name, text) \
  { name, #name, text }
constexpr ErrorInfo kErrors[] = {
    MUSABENCH_ERROR(musaSuccess, "no error"),
    MUSABENCH_ERROR(musaErrorInvalidValue, "invalid argument"),
    MUSABENCH_ERROR(musaErrorMemoryAllocation, "out of memory"),
    MUSABENCH_ERROR(musaErrorInitializationError, "initialization error"),
    MUSABENCH_ERROR(musaErrorMusartUnloading, "the runtime is being unloaded: the process is about to end"),
    MUSABENCH_ERROR(musaErrorInvalidConfiguration, "invalid launch configuration"),
    MUSABENCH_ERROR(musaErrorInvalidMemcpyDirection, "unknown kind of copy"),
    MUSABENCH_ERROR(musaErrorStubLibrary, "the runtime is a stub library"),
    MUSABENCH_ERROR(musaErrorInsufficientDriver, "the driver is older than the runtime needs"),
    MUSABENCH_ERROR(musaErrorCallRequiresNewerDriver, "this call needs a newer driver"),
    MUSABENCH_ERROR(musaErrorDevicesUnavailable, "all devices are busy or unavailable"),
    MUSABENCH_ERROR(musaErrorMissingConfiguration, "launch without a configuration"),
    MUSABENCH_ERROR(musaErrorInvalidDeviceFunction, "invalid device function"),
    MUSABENCH_ERROR(musaErrorNoDevice, "no device found"),
    MUSABENCH_ERROR(musaErrorInvalidDevice, "no device has this number"),
    MUSABENCH_ERROR(musaErrorInvalidKernelImage, "the device code image is invalid"),
    MUSABENCH_ERROR(musaErrorDeviceUninitialized, "the device is not initialized, or was reset during the call"),
    MUSABENCH_ERROR(musaErrorNoKernelImageForDevice, "no device code for this device"),
    MUSABENCH_ERROR(musaErrorECCUncorrectable, "uncorrectable memory error"),
    MUSABENCH_ERROR(musaErrorPeerAccessUnsupported, "the devices cannot access each other's memory"),
    MUSABENCH_ERROR(musaErrorMtlinkUncorrectable, "uncorrectable MTLink error"),
    MUSABENCH_ERROR(musaErrorFileNotFound, "file not found"),
    MUSABENCH_ERROR(musaErrorSharedObjectSymbolNotFound, "symbol not found in a shared object"),
    MUSABENCH_ERROR(musaErrorOperatingSystem, "an operating system call failed"),
    MUSABENCH_ERROR(musaErrorInvalidResourceHandle, "invalid stream or event, or one of another device"),
    MUSABENCH_ERROR(musaErrorSymbolNotFound, "symbol not found"),
    MUSABENCH_ERROR(musaErrorNotReady, "work has not finished yet"),
    MUSABENCH_ERROR(musaErrorIllegalAddress, "a kernel accessed an illegal address"),
    MUSABENCH_ERROR(musaErrorLaunchOutOfResources, "the launch needs more resources than the device has"),
    MUSABENCH_ERROR(musaErrorLaunchTimeout, "a kernel ran too long and was stopped"),
    MUSABENCH_ERROR(musaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    MUSABENCH_ERROR(musaErrorAssert, "an assertion failed in a kernel"),
    MUSABENCH_ERROR(musaErrorHostMemoryAlreadyRegistered, "the host memory is already registered"),
    MUSABENCH_ERROR(musaErrorHostMemoryNotRegistered, "the host memory is not registered"),
    MUSABENCH_ERROR(musaErrorMisalignedAddress, "a kernel accessed a misaligned address"),
    MUSABENCH_ERROR(musaErrorLaunchFailure, "a kernel failed"),
    MUSABENCH_ERROR(musaErrorCooperativeLaunchTooLarge, "too many blocks for a cooperative launch"),
    MUSABENCH_ERROR(musaErrorNotPermitted, "the call is not permitted here, such as in a host function"),
    MUSABENCH_ERROR(musaErrorNotSupported, "the call is not supported on this device"),
    MUSABENCH_ERROR(musaErrorSystemNotReady, "the system is not ready"),
    MUSABENCH_ERROR(musaErrorSystemDriverMismatch, "the driver and the runtime do not fit together"),
    MUSABENCH_ERROR(musaErrorStreamCaptureUnsupported, "the call is not permitted while a stream is capturing"),
    MUSABENCH_ERROR(musaErrorStreamCaptureInvalidated, "an earlier error ended the stream capture"),
    MUSABENCH_ERROR(musaErrorStreamCaptureMerge, "the call would merge two stream captures"),
    MUSABENCH_ERROR(musaErrorStreamCaptureUnmatched, "the capture was not begun in this stream"),
    MUSABENCH_ERROR(musaErrorStreamCaptureUnjoined,
                    "the capture has forked streams that were not joined to the one it was begun in"),
    MUSABENCH_ERROR(musaErrorStreamCaptureIsolation, "the capture would depend on work outside of it"),
    MUSABENCH_ERROR(musaErrorStreamCaptureImplicit,
                    "the call would make a capturing stream depend on the legacy stream"),
    MUSABENCH_ERROR(musaErrorCapturedEvent, "the event was last recorded in a stream capture"),
    MUSABENCH_ERROR(musaErrorStreamCaptureWrongThread, "the capture was begun by another thread"),
    MUSABENCH_ERROR(musaErrorTimeout, "the wait timed out"),
    MUSABENCH_ERROR(musaErrorGraphExecUpdateFailure, "the executable graph cannot be updated this way"),
    MUSABENCH_ERROR(musaErrorInvalidClusterSize, "invalid cluster size"),
    MUSABENCH_ERROR(musaErrorUnknown, "unknown error"),
};
#undef MUSABENCH_ERROR

const ErrorInfo* find(musaError_t error) {
  for (const ErrorInfo& info : kErrors) {
    if (info.code == error) return &info;
  }
  return nullptr;
}

}  // namespace

const char* error_name(musaError_t error) {
  const ErrorInfo* info = find(error);
  return info == nullptr ? "unrecognized error code" : info->name;
}

const char* error_text(musaError_t error) {
  const ErrorInfo* info = find(error);
  return info == nullptr ? "unrecognized error code" : info->text;
}

bool is_sticky(musaError_t error) {
  switch (error) {
    case musaErrorECCUncorrectable:
    case musaErrorMtlinkUncorrectable:
    case musaErrorIllegalAddress:
    case musaErrorLaunchTimeout:
    case musaErrorAssert:
    case musaErrorMisalignedAddress:
    case musaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

musaError_t& last_error() {
  thread_local musaError_t error = musaSuccess;
  return error;
}

}  // namespace musabench
