#include <sched.h>

#include "common.h"

namespace {

using musabench::now_ns;

// The structure is C's, so its members are no std::atomic.
uint64_t load(const uint64_t& value) { return __atomic_load_n(&value, __ATOMIC_ACQUIRE); }
void store(uint64_t& value, uint64_t wanted) { __atomic_store_n(&value, wanted, __ATOMIC_RELEASE); }
uint64_t add_one(uint64_t& value) { return __atomic_add_fetch(&value, 1, __ATOMIC_ACQ_REL); }

}  // namespace

void mb_hold_wait(void* hold) {
  auto& h = *static_cast<mb_hold*>(hold);
  const uint64_t ticket = add_one(h.arrived);
  if (load(h.released) >= ticket) return;
  add_one(h.waited);
  const int64_t start = now_ns();
  while (load(h.released) < ticket) {
    if (static_cast<uint64_t>(now_ns() - start) >= h.limit_ns) {
      add_one(h.expired);
      mb_hold_open(&h);
      return;
    }
    // The thread that queues the work may need this CPU.
    sched_yield();
  }
}

int mb_hold_release(mb_hold* hold) {
  // Not a plain addition: once everything is open it stays so.
  uint64_t now = load(hold->released);
  while (now != UINT64_MAX &&
         !__atomic_compare_exchange_n(&hold->released, &now, now + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
  }
  return 0;
}

int mb_hold_open(mb_hold* hold) {
  store(hold->released, UINT64_MAX);
  return 0;
}
