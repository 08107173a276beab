#include <new>
#include <string>
#include <utility>

#include "object.h"

using namespace musabench::ffi;

namespace {

struct ErrorObject {
  TVMFFIObject header;
  TVMFFIErrorCell cell;
  // What the cell's views point to.
  std::string kind;
  std::string message;
  std::string backtrace;
};
static_assert(offsetof(ErrorObject, cell) == sizeof(TVMFFIObject), "the cell follows the header");

TVMFFIByteArray view(const std::string& text) { return TVMFFIByteArray{text.data(), text.size()}; }

std::string copy(const TVMFFIByteArray* bytes) {
  return bytes != nullptr && bytes->data != nullptr ? std::string(bytes->data, bytes->size) : std::string();
}

// When memory is out the backtrace stays as it was.
void update_backtrace(TVMFFIObjectHandle self, const TVMFFIByteArray* backtrace, int32_t mode) {
  constexpr int32_t kAppend = 1;
  auto* error = static_cast<ErrorObject*>(self);
  try {
    error->backtrace = mode == kAppend ? error->backtrace + copy(backtrace) : copy(backtrace);
    error->cell.backtrace = view(error->backtrace);
  } catch (const std::bad_alloc&) {
  }
}

void delete_error(void* self, int flags) {
  auto* error = static_cast<ErrorObject*>(self);
  if ((flags & kDestroyPayload) != 0) {
    if (error->cell.cause_chain != nullptr) TVMFFIObjectDecRef(error->cell.cause_chain);
    if (error->cell.extra_context != nullptr) TVMFFIObjectDecRef(error->cell.extra_context);
    error->~ErrorObject();
  }
  if ((flags & kFreeBlock) != 0) ::operator delete(self);
}

// Throws bad_alloc. The caller owns the reference.
TVMFFIObject* new_error(std::string kind, std::string message, std::string backtrace) {
  void* block = ::operator new(sizeof(ErrorObject));
  auto* error = new (block) ErrorObject{
      new_header(kTVMFFIError, &delete_error), {}, std::move(kind), std::move(message), std::move(backtrace)};
  error->cell.kind = view(error->kind);
  error->cell.message = view(error->message);
  error->cell.backtrace = view(error->backtrace);
  error->cell.update_backtrace = &update_backtrace;
  return &error->header;
}

// The thread's raised error, released when the thread ends.
struct Raised {
  TVMFFIObject* error = nullptr;

  void set(TVMFFIObject* owned) {
    TVMFFIObject* dropped = std::exchange(error, owned);
    if (dropped != nullptr) TVMFFIObjectDecRef(dropped);
  }
  ~Raised() { set(nullptr); }
};

thread_local Raised raised;

// The message is the parts (NULL: nothing) one after another. When memory is out there is no error to raise either; the
// caller's -1 has to do. No exception may leave the C ABI, so nothing that allocates stands outside of this.
void set_raised(const char* kind, const char* const* parts, int32_t count) {
  try {
    std::string message;
    for (int32_t i = 0; i < count; ++i) {
      if (parts[i] != nullptr) message += parts[i];
    }
    raised.set(new_error(kind != nullptr ? kind : "RuntimeError", std::move(message), std::string()));
  } catch (const std::bad_alloc&) {
    raised.set(nullptr);
  }
}

}  // namespace

namespace musabench::ffi {

int raise(const char* kind, const char* function, const char* message) {
  const char* parts[] = {function, ": ", message};
  set_raised(kind, parts, 3);
  return -1;
}

bool has_raised() { return raised.error != nullptr; }

}  // namespace musabench::ffi

void TVMFFIErrorSetRaised(TVMFFIObjectHandle error) {
  if (error != nullptr) TVMFFIObjectIncRef(error);
  raised.set(static_cast<TVMFFIObject*>(error));
}

void TVMFFIErrorSetRaisedFromCStr(const char* kind, const char* message) { set_raised(kind, &message, 1); }

void TVMFFIErrorSetRaisedFromCStrParts(const char* kind, const char** message_parts, int32_t num_parts) {
  set_raised(kind, message_parts, message_parts != nullptr ? num_parts : 0);
}

void TVMFFIErrorMoveFromRaised(TVMFFIObjectHandle* result) {
  if (result != nullptr) *result = std::exchange(raised.error, nullptr);
}

int TVMFFIErrorCreate(const TVMFFIByteArray* kind, const TVMFFIByteArray* message, const TVMFFIByteArray* backtrace,
                      TVMFFIObjectHandle* out) {
  if (out == nullptr) return -1;
  try {
    *out = new_error(copy(kind), copy(message), copy(backtrace));
    return 0;
  } catch (const std::bad_alloc&) {
    return -1;
  }
}
