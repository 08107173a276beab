#include "fiber.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace musabench {
namespace emulation {
namespace {

// Sanitizers make frames several times as large.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kStackBytes = 256 << 10;
#else
constexpr size_t kStackBytes = 64 << 10;
#endif
constexpr size_t kGuardBytes = 4096;

// The fiber that begin() is to run: a fresh stack has no other way to learn it.
thread_local Fiber* starting = nullptr;
thread_local Fiber* starter = nullptr;

}  // namespace

#if defined(__x86_64__)
// Saves what a function must keep (System V ABI) and the stack pointer, and takes up the other's. swapcontext would ask
// the kernel for the signal mask each time, which makes a barrier ten times as slow.
extern "C" void musabench_switch_stack(void** save, void* to) __attribute__((visibility("hidden")));
asm(R"(
.text
.hidden musabench_switch_stack
.globl musabench_switch_stack
.type musabench_switch_stack, @function
musabench_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size musabench_switch_stack, .-musabench_switch_stack
)");
#endif

Fiber::~Fiber() {
  if (stack_ != nullptr) munmap(stack_, stack_bytes_);
#if !defined(__x86_64__)
  delete static_cast<ucontext_t*>(stack_pointer_);
#endif
}

void Fiber::adopt_this_thread() {
#if !defined(__x86_64__)
  if (stack_pointer_ == nullptr) stack_pointer_ = new ucontext_t;
#endif
}

void Fiber::start(void (*main)(void*), void* argument) {
  if (stack_ == nullptr) {
    const size_t bytes = kStackBytes + kGuardBytes;
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    stack_ = static_cast<unsigned char*>(memory);
    stack_bytes_ = bytes;
    mprotect(stack_, kGuardBytes, PROT_NONE);
    bottom_ = stack_ + kGuardBytes;
    bottom_bytes_ = kStackBytes;
  }
  main_ = main;
  argument_ = argument;
#if defined(__SANITIZE_ADDRESS__)
  // Frames of a fiber that was given up are still marked.
  __asan_unpoison_memory_region(bottom_, bottom_bytes_);
#endif
#if defined(__x86_64__)
  // As if begin() had been called by nobody: six registers to restore, then its address to return to. At a function's
  // first instruction the stack pointer is 8 off a multiple of 16.
  auto* top = reinterpret_cast<uintptr_t*>(stack_ + stack_bytes_);
  *--top = 0;
  *--top = reinterpret_cast<uintptr_t>(&Fiber::begin);
  for (int i = 0; i < 6; ++i) *--top = 0;
  stack_pointer_ = top;
#else
  if (stack_pointer_ == nullptr) stack_pointer_ = new ucontext_t;
  auto* context = static_cast<ucontext_t*>(stack_pointer_);
  if (getcontext(context) != 0) throw std::bad_alloc();
  context->uc_stack.ss_sp = stack_ + kGuardBytes;
  context->uc_stack.ss_size = kStackBytes;
  context->uc_link = nullptr;
  makecontext(context, &Fiber::begin, 0);
#endif
}

void Fiber::begin() {
  Fiber* self = starting;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &starter->bottom_, &starter->bottom_bytes_);
#endif
  self->main_(self->argument_);
  std::abort();
}

void Fiber::switch_to(Fiber& to, bool for_good) {
#if defined(__SANITIZE_ADDRESS__)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(for_good ? nullptr : &fake_stack, to.bottom_, to.bottom_bytes_);
#else
  (void)for_good;
#endif
#if defined(__x86_64__)
  musabench_switch_stack(&stack_pointer_, to.stack_pointer_);
#else
  swapcontext(static_cast<ucontext_t*>(stack_pointer_), static_cast<ucontext_t*>(to.stack_pointer_));
#endif
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

void Fiber::enter(Fiber& to) {
  starting = &to;
  starter = this;
  switch_to(to, false);
}

void Fiber::leave_to(Fiber& scheduler) { switch_to(scheduler, false); }
void Fiber::leave_for_good_to(Fiber& scheduler) { switch_to(scheduler, true); }

}  // namespace emulation
}  // namespace musabench
