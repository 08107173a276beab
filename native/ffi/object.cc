#include "object.h"

#include <cstdlib>
#include <cstring>

using namespace musabench::ffi;

namespace {

// The characters follow the object in its block.
struct StringObject {
  TVMFFIObject header;
  TVMFFIByteArray bytes;
};

void delete_string(void* self, int flags) {
  if ((flags & kFreeBlock) != 0) std::free(self);
}

constexpr size_t kSmallStringCapacity = 7;

}  // namespace

// The version of the ABI that this library implements.
void TVMFFIGetVersion(TVMFFIVersion* out_version) {
  if (out_version != nullptr) *out_version = TVMFFIVersion{0, 1, 9};
}

int TVMFFIObjectIncRef(TVMFFIObjectHandle object) {
  if (object == nullptr) return raise("ValueError", __func__, "the object is NULL");
  __atomic_fetch_add(&static_cast<TVMFFIObject*>(object)->combined_ref_count, kStrongOne, __ATOMIC_RELAXED);
  return 0;
}

int TVMFFIObjectDecRef(TVMFFIObjectHandle object) {
  if (object == nullptr) return raise("ValueError", __func__, "the object is NULL");
  auto* header = static_cast<TVMFFIObject*>(object);
  const uint64_t before = __atomic_fetch_sub(&header->combined_ref_count, kStrongOne, __ATOMIC_ACQ_REL);
  if ((before & kStrongMask) != kStrongOne) return 0;
  if (before == (kStrongOne | kWeakOne)) {
    // Nobody holds a weak reference, and without a strong one nobody can make one.
    if (header->deleter != nullptr) header->deleter(object, kDestroyPayload | kFreeBlock);
    return 0;
  }
  if (header->deleter != nullptr) header->deleter(object, kDestroyPayload);
  if (__atomic_fetch_sub(&header->combined_ref_count, kWeakOne, __ATOMIC_ACQ_REL) == kWeakOne &&
      header->deleter != nullptr) {
    header->deleter(object, kFreeBlock);
  }
  return 0;
}

int TVMFFIStringFromByteArray(const TVMFFIByteArray* input, TVMFFIAny* out) {
  if (input == nullptr || out == nullptr || (input->data == nullptr && input->size > 0)) {
    return raise("ValueError", __func__, "input, its data and out must not be NULL");
  }
  if (input->size <= kSmallStringCapacity) {
    *out = TVMFFIAny{};
    out->type_index = kTVMFFISmallStr;
    out->zero_padding = static_cast<uint32_t>(input->size);
    if (input->size > 0) std::memcpy(out->v_bytes, input->data, input->size);
    return 0;
  }
  void* block =
      input->size < SIZE_MAX - sizeof(StringObject) ? std::malloc(sizeof(StringObject) + input->size + 1) : nullptr;
  if (block == nullptr) return raise("MemoryError", __func__, "memory is out");
  char* characters = static_cast<char*>(block) + sizeof(StringObject);
  std::memcpy(characters, input->data, input->size);
  characters[input->size] = '\0';
  auto* string = static_cast<StringObject*>(block);
  string->header = new_header(kTVMFFIStr, &delete_string);
  string->bytes = TVMFFIByteArray{characters, input->size};
  *out = TVMFFIAny{};
  out->type_index = kTVMFFIStr;
  out->v_obj = &string->header;
  return 0;
}
