// The part of the TVM-FFI C ABI that kernels and their callers need: our declarations, layouts checked by
// static_assert. Names and layouts are those of tvm-ffi v0.1.9 and later (c_api.h, extra/c_env_api.h) and of
// DLPack 1.x. libtvm_ffi_host implements what is declared here; the real libtvm_ffi takes its place.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { kDLCPU = 1, kDLCUDA = 2, kDLExtDev = 12 /* MUSA */ };
enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6, kDLFloat8_e4m3fn = 10, kDLFloat8_e5m2 = 12 };

typedef struct DLDevice {
  int32_t device_type;
  int32_t device_id;
} DLDevice;

typedef struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;

typedef struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensorVersioned {
  struct {
    uint32_t major;
    uint32_t minor;
  } version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

enum TVMFFITypeIndex {
  kTVMFFINone = 0,
  kTVMFFIInt = 1,
  kTVMFFIBool = 2,
  kTVMFFIFloat = 3,
  kTVMFFIOpaquePtr = 4,
  kTVMFFIDataType = 5,
  kTVMFFIDevice = 6,
  kTVMFFIDLTensorPtr = 7,
  kTVMFFIRawStr = 8,
  kTVMFFIByteArrayPtr = 9,
  kTVMFFIObjectRValueRef = 10,
  kTVMFFISmallStr = 11,
  kTVMFFISmallBytes = 12,
  kTVMFFIStaticObjectBegin = 64,
  kTVMFFIObject = 64,
  kTVMFFIStr = 65,
  kTVMFFIBytes = 66,
  kTVMFFIError = 67,
  kTVMFFIFunction = 68,
  kTVMFFIShape = 69,
  kTVMFFITensor = 70,
  kTVMFFIArray = 71
};

typedef struct TVMFFIAny {
  int32_t type_index;
  uint32_t zero_padding;  // 0, except the length of a small string
  union {
    int64_t v_int64;
    double v_float64;
    void* v_ptr;
    const char* v_c_str;
    DLDataType v_dtype;
    DLDevice v_device;
    char v_bytes[8];
  };
} TVMFFIAny;

typedef void* TVMFFIObjectHandle;

typedef struct TVMFFIObject {
  uint64_t combined_ref_count;  // strong count in the low 32 bits, weak count in the high 32
  int32_t type_index;
  uint32_t padding;
  // flags: 1 = the strong count reached 0 (destroy the payload), 2 = the weak count did (free the block)
  void (*deleter)(void* self, int flags);
} TVMFFIObject;

typedef struct TVMFFIByteArray {
  const char* data;
  size_t size;
} TVMFFIByteArray;

// Payload of an Error object, behind the 24-byte header.
typedef struct TVMFFIErrorCell {
  TVMFFIByteArray kind;
  TVMFFIByteArray message;
  TVMFFIByteArray backtrace;
  void (*update_backtrace)(TVMFFIObjectHandle self, const TVMFFIByteArray* backtrace, int32_t mode);
  TVMFFIObjectHandle cause_chain;
  TVMFFIObjectHandle extra_context;
} TVMFFIErrorCell;

// Payload of an Array object, behind the 24-byte header; data points to `size` TVMFFIAny.
typedef struct TVMFFISeqCell {
  void* data;
  int64_t size;
  int64_t capacity;
  void (*deleter)(void* data);
} TVMFFISeqCell;

// 0: done. -1: an error is set in this thread, to be taken by TVMFFIErrorMoveFromRaised.
typedef int (*TVMFFISafeCallType)(void* handle, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result);

typedef int (*DLPackManagedTensorAllocator)(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                                            void (*SetError)(void* error_ctx, const char* kind, const char* message));

int TVMFFIObjectIncRef(TVMFFIObjectHandle object);
int TVMFFIObjectDecRef(TVMFFIObjectHandle object);

void TVMFFIErrorSetRaised(TVMFFIObjectHandle error);
void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message);
void TVMFFIErrorMoveFromRaised(TVMFFIObjectHandle* result);
int TVMFFIErrorCreate(const TVMFFIByteArray* kind, const TVMFFIByteArray* message, const TVMFFIByteArray* backtrace,
                      TVMFFIObjectHandle* out);

// Takes ownership of `from`; its deleter runs when the tensor's last reference goes.
int TVMFFITensorFromDLPackVersioned(DLManagedTensorVersioned* from, int32_t require_alignment,
                                    int32_t require_contiguous, TVMFFIObjectHandle* out);

// Streams are kept per thread and device; unset is NULL, the legacy stream.
int TVMFFIEnvSetStream(int32_t device_type, int32_t device_id, void* stream, void** opt_out_original_stream);
void* TVMFFIEnvGetStream(int32_t device_type, int32_t device_id);
// The thread's allocator comes before the global one.
int TVMFFIEnvSetDLPackManagedTensorAllocator(DLPackManagedTensorAllocator allocator, int write_to_global_context,
                                             DLPackManagedTensorAllocator* opt_out_original_allocator);
DLPackManagedTensorAllocator TVMFFIEnvGetDLPackManagedTensorAllocator(void);
int TVMFFIEnvTensorAlloc(DLTensor* prototype, TVMFFIObjectHandle* out);

#ifdef __cplusplus
}

static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, dtype) == 20 && offsetof(DLTensor, strides) == 32, "DLPack");
static_assert(sizeof(DLManagedTensorVersioned) == 80 && offsetof(DLManagedTensorVersioned, dl_tensor) == 32, "DLPack");
static_assert(sizeof(TVMFFIAny) == 16 && offsetof(TVMFFIAny, v_int64) == 8, "TVMFFIAny");
static_assert(sizeof(TVMFFIObject) == 24 && offsetof(TVMFFIObject, deleter) == 16, "TVMFFIObject");
static_assert(sizeof(TVMFFISeqCell) == 32, "TVMFFISeqCell");
#endif
