#include <cstdlib>
#include <new>

#include "object.h"

using namespace musabench::ffi;

namespace {

constexpr uint64_t kPaddedSubByteFlag = 4;

// Row-major strides, where the source has none, follow the object in its block.
struct TensorObject {
  TVMFFIObject header;
  DLTensor tensor;
  DLManagedTensorVersioned* source;
};
static_assert(offsetof(TensorObject, tensor) == sizeof(TVMFFIObject), "the tensor follows the header");

void delete_tensor(void* self, int flags) {
  auto* object = static_cast<TensorObject*>(self);
  if ((flags & kDestroyPayload) != 0 && object->source->deleter != nullptr) object->source->deleter(object->source);
  if ((flags & kFreeBlock) != 0) std::free(self);
}

bool is_contiguous(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  // Unsigned: the product of an absurd shape wraps instead of being undefined.
  uint64_t expected = 1;
  for (int32_t i = tensor.ndim - 1; i >= 0; --i) {
    if (tensor.shape[i] == 1) continue;
    if (static_cast<uint64_t>(tensor.strides[i]) != expected) return false;
    expected *= static_cast<uint64_t>(tensor.shape[i]);
  }
  return true;
}

// Addresses of an extension device may be opaque: there only the offset counts.
bool is_aligned(const DLTensor& tensor, uint64_t alignment) {
  const bool direct = tensor.device.device_type == kDLCPU || tensor.device.device_type == kDLCUDA;
  const uint64_t address = direct ? reinterpret_cast<uintptr_t>(tensor.data) : 0;
  return (address + tensor.byte_offset) % alignment == 0;
}

void delete_view(DLManagedTensorVersioned* view) {
  TVMFFIObjectDecRef(view->manager_ctx);
  delete view;
}

}  // namespace

int TVMFFITensorFromDLPackVersioned(DLManagedTensorVersioned* from, int32_t min_alignment, int32_t require_contiguous,
                                    TVMFFIObjectHandle* out) {
  if (from == nullptr || out == nullptr) return raise("ValueError", __func__, "from and out must not be NULL");
  // A later major version may lay out everything behind the deleter anew.
  if (from->version.major > kDLPackMajorVersion) return raise("RuntimeError", __func__, "a DLPack version after 1.x");
  const DLTensor& tensor = from->dl_tensor;
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    return raise("ValueError", __func__, "a negative number of dimensions, or no shape");
  }
  if (min_alignment > 0 && !is_aligned(tensor, static_cast<uint64_t>(min_alignment))) {
    return raise("RuntimeError", __func__, "the data is not aligned as required");
  }
  if (require_contiguous != 0 && !is_contiguous(tensor)) {
    return raise("RuntimeError", __func__, "the tensor is not contiguous");
  }
  if ((from->flags & kPaddedSubByteFlag) != 0) {
    return raise("RuntimeError", __func__, "padded sub-byte elements are not supported");
  }
  const bool needs_strides = tensor.strides == nullptr && tensor.ndim > 0;
  const size_t strides_bytes = needs_strides ? static_cast<size_t>(tensor.ndim) * sizeof(int64_t) : 0;
  void* block = std::malloc(sizeof(TensorObject) + strides_bytes);
  if (block == nullptr) return raise("MemoryError", __func__, "memory is out");
  auto* object = new (block) TensorObject{new_header(kTVMFFITensor, &delete_tensor), tensor, from};
  if (needs_strides) {
    auto* strides = reinterpret_cast<int64_t*>(static_cast<char*>(block) + sizeof(TensorObject));
    uint64_t stride = 1;  // unsigned as above
    for (int32_t i = tensor.ndim - 1; i >= 0; --i) {
      strides[i] = static_cast<int64_t>(stride);
      stride *= static_cast<uint64_t>(tensor.shape[i]);
    }
    object->tensor.strides = strides;
  }
  *out = object;
  return 0;
}

int TVMFFITensorToDLPackVersioned(TVMFFIObjectHandle from, DLManagedTensorVersioned** out) {
  if (from == nullptr || out == nullptr) return raise("ValueError", __func__, "from and out must not be NULL");
  auto* object = static_cast<TensorObject*>(from);
  if (object->header.type_index != kTVMFFITensor) return raise("TypeError", __func__, "the object is no Tensor");
  auto* view = new (std::nothrow) DLManagedTensorVersioned{};
  if (view == nullptr) return raise("MemoryError", __func__, "memory is out");
  view->version = {kDLPackMajorVersion, kDLPackMinorVersion};
  view->manager_ctx = from;
  view->deleter = &delete_view;
  view->dl_tensor = object->tensor;
  TVMFFIObjectIncRef(from);
  *out = view;
  return 0;
}
