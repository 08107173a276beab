// The part of the MUSA runtime ABI that musabench uses, under its real names.
//
// Declarations only: no MUSA header is needed to build. Every name, argument list and value here is the
// CUDA runtime's with the prefix musa, so the same list serves libcudart (prefix cuda). Values are from
// the published error and attribute enumerations of the MUSA SDK 4.x and 5.x.
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)  // also where the rest of a library is built hidden
#ifdef __cplusplus
extern "C" {
#endif

typedef int musaError_t;
typedef struct musaStream_st* musaStream_t;
typedef struct musaEvent_st* musaEvent_t;
typedef struct musaGraph_st* musaGraph_t;
typedef struct musaGraphNode_st* musaGraphNode_t;
typedef struct musaGraphExec_st* musaGraphExec_t;
typedef void (*musaHostFn_t)(void* user_data);

enum musaErrorValue {
  musaSuccess = 0,
  musaErrorInvalidValue = 1,
  musaErrorMemoryAllocation = 2,
  musaErrorInitializationError = 3,
  musaErrorMusartUnloading = 4,
  musaErrorInvalidConfiguration = 9,
  musaErrorInvalidMemcpyDirection = 21,
  musaErrorStubLibrary = 34,
  musaErrorInsufficientDriver = 35,
  musaErrorCallRequiresNewerDriver = 36,
  musaErrorDevicesUnavailable = 46,
  musaErrorMissingConfiguration = 52,
  musaErrorInvalidDeviceFunction = 98,
  musaErrorNoDevice = 100,
  musaErrorInvalidDevice = 101,
  musaErrorInvalidKernelImage = 200,
  musaErrorDeviceUninitialized = 201,
  musaErrorNoKernelImageForDevice = 209,
  musaErrorECCUncorrectable = 214,
  musaErrorPeerAccessUnsupported = 217,
  musaErrorMtlinkUncorrectable = 220,
  musaErrorFileNotFound = 301,
  musaErrorSharedObjectSymbolNotFound = 302,
  musaErrorOperatingSystem = 304,
  musaErrorInvalidResourceHandle = 400,
  musaErrorSymbolNotFound = 500,
  musaErrorNotReady = 600,
  musaErrorIllegalAddress = 700,
  musaErrorLaunchOutOfResources = 701,
  musaErrorLaunchTimeout = 702,
  musaErrorPeerAccessAlreadyEnabled = 704,
  musaErrorAssert = 710,
  musaErrorHostMemoryAlreadyRegistered = 712,
  musaErrorHostMemoryNotRegistered = 713,
  musaErrorMisalignedAddress = 716,
  musaErrorLaunchFailure = 719,
  musaErrorCooperativeLaunchTooLarge = 720,
  musaErrorNotPermitted = 800,
  musaErrorNotSupported = 801,
  musaErrorSystemNotReady = 802,
  musaErrorSystemDriverMismatch = 803,
  musaErrorStreamCaptureUnsupported = 900,
  musaErrorStreamCaptureInvalidated = 901,
  musaErrorStreamCaptureMerge = 902,
  musaErrorStreamCaptureUnmatched = 903,
  musaErrorStreamCaptureUnjoined = 904,
  musaErrorStreamCaptureIsolation = 905,
  musaErrorStreamCaptureImplicit = 906,
  musaErrorCapturedEvent = 907,
  musaErrorStreamCaptureWrongThread = 908,
  musaErrorTimeout = 909,
  musaErrorGraphExecUpdateFailure = 910,
  musaErrorInvalidClusterSize = 912,
  musaErrorUnknown = 999
};

enum musaMemcpyKind {
  musaMemcpyHostToHost = 0,
  musaMemcpyHostToDevice = 1,
  musaMemcpyDeviceToHost = 2,
  musaMemcpyDeviceToDevice = 3,
  musaMemcpyDefault = 4
};

enum musaStreamFlags { musaStreamDefault = 0, musaStreamNonBlocking = 1 };

enum musaEventFlags {
  musaEventDefault = 0,
  musaEventBlockingSync = 1,
  musaEventDisableTiming = 2,
  musaEventInterprocess = 4
};

enum musaStreamCaptureMode {
  musaStreamCaptureModeGlobal = 0,
  musaStreamCaptureModeThreadLocal = 1,
  musaStreamCaptureModeRelaxed = 2
};

enum musaStreamCaptureStatus {
  musaStreamCaptureStatusNone = 0,
  musaStreamCaptureStatusActive = 1,
  musaStreamCaptureStatusInvalidated = 2
};

enum musaDeviceAttr {
  musaDevAttrMaxThreadsPerBlock = 1,
  musaDevAttrMaxSharedMemoryPerBlock = 8,
  musaDevAttrWarpSize = 10,
  musaDevAttrMaxRegistersPerBlock = 12,
  musaDevAttrClockRate = 13,  // kHz
  musaDevAttrMultiProcessorCount = 16,
  musaDevAttrEccEnabled = 32,
  musaDevAttrPciBusId = 33,
  musaDevAttrPciDeviceId = 34,
  musaDevAttrMemoryClockRate = 36,       // kHz
  musaDevAttrGlobalMemoryBusWidth = 37,  // bits
  musaDevAttrL2CacheSize = 38,
  musaDevAttrMaxThreadsPerMultiProcessor = 39,
  musaDevAttrAsyncEngineCount = 40,
  musaDevAttrPciDomainId = 50,
  musaDevAttrComputeCapabilityMajor = 75,
  musaDevAttrComputeCapabilityMinor = 76,
  musaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  musaDevAttrMaxRegistersPerMultiprocessor = 82,
  musaDevAttrCooperativeLaunch = 95,
  musaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  musaDevAttrMaxBlocksPerMultiprocessor = 106,
  musaDevAttrMaxPersistingL2CacheSize = 108,
  musaDevAttrReservedSharedMemoryPerBlock = 111,
  musaDevAttrMemoryPoolsSupported = 115
};

// Layout of the runtime's device properties (CUDA-11-shaped). Newer SDKs append fields, and rename the
// function to musaGetDeviceProperties_v2: callers pass a buffer of at least 4 KiB and read only `name`
// (offset 0) and `total_global_mem` (offset 288).
enum { musaDevicePropNameOffset = 0, musaDevicePropTotalGlobalMemOffset = 288, musaDevicePropSize = 728 };

// Handles are checked: one that is not, or no longer, alive gives musaErrorInvalidResourceHandle (streams, events)
// or musaErrorInvalidValue (graphs). NULL, and 1, as a stream is the current device's legacy stream, which waits for
// all blocking streams of its device and they for it. Calls fail with the device's sticky error, once there is one,
// until musaDeviceReset; those that free or destroy something do so all the same.
//
// musaDeviceReset drops all work, streams, events, graphs and memory of the current device. Calls waiting for its
// work in other threads return musaErrorDeviceUninitialized.

musaError_t musaGetDeviceCount(int* count);
musaError_t musaSetDevice(int device);
musaError_t musaGetDevice(int* device);
musaError_t musaDeviceGetAttribute(int* value, int attribute, int device);
musaError_t musaDeviceGetPCIBusId(char* bus_id, int length, int device);
musaError_t musaGetDeviceProperties(void* properties, int device);
musaError_t musaDeviceSynchronize(void);
musaError_t musaDeviceReset(void);
musaError_t musaRuntimeGetVersion(int* version);
musaError_t musaDriverGetVersion(int* version);

const char* musaGetErrorName(musaError_t error);
const char* musaGetErrorString(musaError_t error);
musaError_t musaGetLastError(void);
musaError_t musaPeekAtLastError(void);

// 0 bytes give NULL. musaFree waits for all work of the current device, musaFreeHost of all devices; musaFree of what
// musaMalloc did not return on the current device, or of what is freed already, is musaErrorInvalidValue.
musaError_t musaMalloc(void** pointer, size_t bytes);
musaError_t musaFree(void* pointer);
musaError_t musaHostAlloc(void** pointer, size_t bytes, unsigned flags);
musaError_t musaMallocHost(void** pointer, size_t bytes);
musaError_t musaFreeHost(void* pointer);
musaError_t musaMemGetInfo(size_t* free_bytes, size_t* total_bytes);
musaError_t musaMemcpy(void* dst, const void* src, size_t bytes, int kind);
musaError_t musaMemcpyAsync(void* dst, const void* src, size_t bytes, int kind, musaStream_t stream);
musaError_t musaMemset(void* dst, int value, size_t bytes);
musaError_t musaMemsetAsync(void* dst, int value, size_t bytes, musaStream_t stream);

musaError_t musaStreamCreate(musaStream_t* stream);
musaError_t musaStreamCreateWithFlags(musaStream_t* stream, unsigned flags);
musaError_t musaStreamCreateWithPriority(musaStream_t* stream, unsigned flags, int priority);
musaError_t musaStreamDestroy(musaStream_t stream);
musaError_t musaStreamSynchronize(musaStream_t stream);
musaError_t musaStreamQuery(musaStream_t stream);
musaError_t musaStreamWaitEvent(musaStream_t stream, musaEvent_t event, unsigned flags);
musaError_t musaLaunchHostFunc(musaStream_t stream, musaHostFn_t fn, void* user_data);

musaError_t musaEventCreate(musaEvent_t* event);
musaError_t musaEventCreateWithFlags(musaEvent_t* event, unsigned flags);
musaError_t musaEventRecord(musaEvent_t event, musaStream_t stream);
musaError_t musaEventSynchronize(musaEvent_t event);
musaError_t musaEventQuery(musaEvent_t event);
musaError_t musaEventElapsedTime(float* milliseconds, musaEvent_t start, musaEvent_t stop);
musaError_t musaEventDestroy(musaEvent_t event);

// While a stream captures, what is put on it goes into the graph. What breaks a rule of capture is refused and, but
// for musaErrorStreamCaptureUnmatched and ...WrongThread, makes the capture end with
// musaErrorStreamCaptureInvalidated:
//   ...Unsupported (900)  synchronizing or querying a capturing stream or its device; capturing the legacy stream; an
//                         unsafe call (allocating, freeing, synchronous copies, any waiting or asking), by any
//                         thread in global mode, by the capturing thread in thread-local mode
//   ...Merge (902)        waiting for an event of another capture
//   ...Unmatched (903)    ending a capture in a stream where it did not begin
//   ...Unjoined (904)     ending it while forked streams are not joined
//   ...Isolation (905)    waiting for an event recorded outside of the capture
//   ...Implicit (906)     using the legacy stream while a blocking stream captures
//   ...CapturedEvent (907)  asking about, or waiting for, an event recorded in a capture
//   ...WrongThread (908)  ending it in another thread, unless its mode is relaxed
// Beginning a capture in a stream that captures is musaErrorInvalidValue. Destroying the stream in which a capture
// began drops it.
musaError_t musaStreamBeginCapture(musaStream_t stream, int mode);
musaError_t musaStreamEndCapture(musaStream_t stream, musaGraph_t* graph);
musaError_t musaStreamIsCapturing(musaStream_t stream, int* status);
// The 5-argument form. Passing (exec, graph, NULL, NULL, 0) is also right for the newer 3-argument form.
musaError_t musaGraphInstantiate(musaGraphExec_t* exec, musaGraph_t graph, musaGraphNode_t* error_node, char* log,
                                 size_t log_bytes);
musaError_t musaGraphUpload(musaGraphExec_t exec, musaStream_t stream);
musaError_t musaGraphLaunch(musaGraphExec_t exec, musaStream_t stream);
musaError_t musaGraphGetNodes(musaGraph_t graph, musaGraphNode_t* nodes, size_t* count);
musaError_t musaGraphExecDestroy(musaGraphExec_t exec);
musaError_t musaGraphDestroy(musaGraph_t graph);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
