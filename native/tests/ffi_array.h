// Values and arrays as a kernel returns them, made by the published layouts: the C ABI has no function that makes an
// array.
#pragma once

#include <cstdlib>
#include <new>

#include "abi/tvm_ffi.h"

namespace musabench {

inline void set(TVMFFIAny* result, int32_t type_index, int64_t value) {
  *result = TVMFFIAny{};
  result->type_index = type_index;
  result->v_int64 = value;
}

struct ArrayObject {
  TVMFFIObject header;
  TVMFFISeqCell cell;

  TVMFFIAny* elements() { return static_cast<TVMFFIAny*>(cell.data); }
};

inline void delete_array(void* self, int flags) {
  auto* array = static_cast<ArrayObject*>(self);
  if ((flags & 1) != 0) {
    for (int64_t i = 0; i < array->cell.size; ++i) {
      const TVMFFIAny& element = array->elements()[i];
      if (element.type_index >= kTVMFFIStaticObjectBegin) TVMFFIObjectDecRef(element.v_obj);
    }
  }
  if ((flags & 2) != 0) std::free(self);
}

// All elements None.
inline ArrayObject* new_array(int64_t size) {
  auto* array =
      static_cast<ArrayObject*>(std::calloc(1, sizeof(ArrayObject) + static_cast<size_t>(size) * sizeof(TVMFFIAny)));
  if (array == nullptr) throw std::bad_alloc();
  array->header = TVMFFIObject{1 | uint64_t{1} << 32, kTVMFFIArray, 0, &delete_array};
  array->cell = TVMFFISeqCell{array + 1, size, size, nullptr};
  return array;
}

inline void set_object(TVMFFIAny* value, void* object) {
  set(value, static_cast<TVMFFIObject*>(object)->type_index, 0);
  value->v_ptr = object;
}

}  // namespace musabench
