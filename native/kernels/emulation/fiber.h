// A stack of its own that is switched to and from by hand.
#pragma once

#include <cstddef>

namespace musabench {
namespace emulation {

// Not copyable, not movable: a started fiber runs on memory that it owns.
class Fiber {
 public:
  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber();

  // This object stands for the calling thread's own stack.
  void adopt_this_thread();
  // The next enter() begins `main` on a fresh stack; what was on the stack before is forgotten. `main` never returns:
  // it ends with leave_for_good_to. Throws std::bad_alloc.
  void start(void (*main)(void*), void* argument);

  // Called on the adopted thread's stack: goes on in `to` until that leaves to this.
  void enter(Fiber& to);
  // Called on this fiber's stack.
  void leave_to(Fiber& scheduler);
  void leave_for_good_to(Fiber& scheduler);

 private:
  static void begin();
  void switch_to(Fiber& to, bool for_good);

  void* stack_pointer_ = nullptr;  // while it does not run
  unsigned char* stack_ = nullptr;
  size_t stack_bytes_ = 0;
  const void* bottom_ = nullptr;  // for AddressSanitizer: of the memory that the stack is in
  size_t bottom_bytes_ = 0;
  void (*main_)(void*) = nullptr;
  void* argument_ = nullptr;
};

}  // namespace emulation
}  // namespace musabench
