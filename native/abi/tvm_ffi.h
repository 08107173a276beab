// The part of the TVM-FFI C ABI that kernels and their callers need: our declarations, layouts checked by
// static_assert. Names and layouts are those of tvm-ffi v0.1.9 and later (c_api.h, extra/c_env_api.h) and of
// DLPack 1.x. libtvm_ffi_host implements what is declared here; the real libtvm_ffi takes its place. Ours turns some
// misuse into errors that the real one leaves undefined: NULL handles, texts and outputs, negative devices and ranks, a
// later major version of DLPack, an allocator that fails without saying why. Rely on none of that.
//
// Functions that return int return 0, or -1 with an error raised in the calling thread (see TVMFFISafeCallType).
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- DLPack

enum { kDLPackMajorVersion = 1, kDLPackMinorVersion = 1 };
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
  int64_t* strides;  // in elements; NULL is row-major without gaps
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensorVersioned {
  struct {
    uint32_t major;
    uint32_t minor;
  } version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);  // may be NULL
  uint64_t flags;                                          // 1: read-only, 2: a copy, 4: padded sub-byte elements
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

// ---- Values and objects

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

typedef void* TVMFFIObjectHandle;

// Header of every object; the payload (a DLTensor, a cell below) follows it at byte 24.
typedef struct TVMFFIObject {
  // Strong count in the low 32 bits, weak count in the high 32; all strong references together hold one weak one, so a
  // new object starts at 1 | 1 << 32.
  uint64_t combined_ref_count;
  int32_t type_index;
  uint32_t padding;
  // flags: 1 = the strong count reached 0 (destroy the payload), 2 = the weak count did (free the block), 3 = both.
  // May be NULL.
  void (*deleter)(void* self, int flags);
} TVMFFIObject;

// A value that is passed or returned. As an argument it borrows what it points to; as a result it owns it.
typedef struct TVMFFIAny {
  int32_t type_index;
  uint32_t zero_padding;  // 0, except the length (at most 7) of a small string
  union {
    int64_t v_int64;
    double v_float64;
    void* v_ptr;
    const char* v_c_str;
    TVMFFIObject* v_obj;
    DLDataType v_dtype;
    DLDevice v_device;
    char v_bytes[8];
  };
} TVMFFIAny;

// Payload of a Str or Bytes object; a string's data ends with a 0 that is not counted.
typedef struct TVMFFIByteArray {
  const char* data;
  size_t size;
} TVMFFIByteArray;

// Payload of an Error object.
typedef struct TVMFFIErrorCell {
  TVMFFIByteArray kind;
  TVMFFIByteArray message;
  TVMFFIByteArray backtrace;  // most recent call first
  // mode: 0 = replace, 1 = append
  void (*update_backtrace)(TVMFFIObjectHandle self, const TVMFFIByteArray* backtrace, int32_t mode);
  TVMFFIObjectHandle cause_chain;    // owned Error, or NULL
  TVMFFIObjectHandle extra_context;  // owned object, or NULL
} TVMFFIErrorCell;

// Payload of an Array object: `data` points to `size` owned TVMFFIAny.
typedef struct TVMFFISeqCell {
  void* data;
  int64_t size;
  int64_t capacity;
  void (*data_deleter)(void* data);  // NULL when `data` is part of the object's own block
} TVMFFISeqCell;

// How kernels and functions are called. The caller sets result->type_index to a value below kTVMFFIStaticObjectBegin
// first. 0: done. -1: an error is raised in this thread, to be taken by TVMFFIErrorMoveFromRaised.
typedef int (*TVMFFISafeCallType)(void* handle, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result);

// ---- Functions

typedef struct TVMFFIVersion {
  uint32_t major;
  uint32_t minor;
  uint32_t patch;
} TVMFFIVersion;

void TVMFFIGetVersion(TVMFFIVersion* out_version);

int TVMFFIObjectIncRef(TVMFFIObjectHandle object);
int TVMFFIObjectDecRef(TVMFFIObjectHandle object);

// A raised error belongs to the thread. Setting one drops the one before. SetRaised adds a reference of its own.
void TVMFFIErrorSetRaised(TVMFFIObjectHandle error);
void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message);
// The message is the parts in a row; a part may be NULL.
void TVMFFIErrorSetRaisedFromCStrParts(const char* kind, const char** message_parts, int32_t num_parts);
// Hands the raised error to the caller, who owns it then, and clears it. NULL when none is raised.
void TVMFFIErrorMoveFromRaised(TVMFFIObjectHandle* result);
// Raises nothing itself: -1 means that memory is out.
int TVMFFIErrorCreate(const TVMFFIByteArray* kind, const TVMFFIByteArray* message, const TVMFFIByteArray* backtrace,
                      TVMFFIObjectHandle* out);

// Takes `from`, unless it fails; its deleter runs when the tensor's last reference goes. A min_alignment of 0 asks
// for none. The tensor's strides are never NULL unless it has no dimensions.
int TVMFFITensorFromDLPackVersioned(DLManagedTensorVersioned* from, int32_t min_alignment, int32_t require_contiguous,
                                    TVMFFIObjectHandle* out);
// A view that holds a reference to the tensor until its own deleter is called.
int TVMFFITensorToDLPackVersioned(TVMFFIObjectHandle from, DLManagedTensorVersioned** out);

// An owned copy of the bytes: a small string of up to 7 bytes, else a Str object.
int TVMFFIStringFromByteArray(const TVMFFIByteArray* input, TVMFFIAny* out);

// ---- Environment

// Streams are kept per thread and device; unset is NULL, the legacy stream.
int TVMFFIEnvSetStream(int32_t device_type, int32_t device_id, void* stream, void** opt_out_original_stream);
void* TVMFFIEnvGetStream(int32_t device_type, int32_t device_id);

// Makes a tensor like `prototype`, of which only dtype, ndim, shape and device are set. On failure it calls SetError
// with error_ctx and returns -1.
typedef int (*DLPackManagedTensorAllocator)(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                                            void (*SetError)(void* error_ctx, const char* kind, const char* message));

// Sets the calling thread's allocator and, when write_to_global_context is not 0, the one of threads without their own.
// The original is the thread's own, NULL where only a global one was in force: setting it again restores what was.
// NULL as the thread's own leaves the global one in force.
int TVMFFIEnvSetDLPackManagedTensorAllocator(DLPackManagedTensorAllocator allocator, int write_to_global_context,
                                             DLPackManagedTensorAllocator* opt_out_original_allocator);
DLPackManagedTensorAllocator TVMFFIEnvGetDLPackManagedTensorAllocator(void);
// A Tensor object from the allocator in force.
int TVMFFIEnvTensorAlloc(DLTensor* prototype, TVMFFIObjectHandle* out);

#ifdef __cplusplus
}

static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, dtype) == 20 && offsetof(DLTensor, strides) == 32, "DLPack");
static_assert(sizeof(DLManagedTensorVersioned) == 80 && offsetof(DLManagedTensorVersioned, dl_tensor) == 32, "DLPack");
static_assert(sizeof(TVMFFIAny) == 16 && offsetof(TVMFFIAny, v_int64) == 8, "TVMFFIAny");
static_assert(sizeof(TVMFFIObject) == 24 && offsetof(TVMFFIObject, deleter) == 16, "TVMFFIObject");
static_assert(sizeof(TVMFFIErrorCell) == 72 && offsetof(TVMFFIErrorCell, update_backtrace) == 48, "TVMFFIErrorCell");
static_assert(sizeof(TVMFFISeqCell) == 32, "TVMFFISeqCell");
static_assert(sizeof(TVMFFIVersion) == 12, "TVMFFIVersion");
#endif
