// Handles given to callers: numbers, not addresses. A freed, foreign or invented handle is recognised
// without touching memory that it may point to.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/sync.h"

namespace musabench {

// A handle is generation << 24 | slot << 4 | tag. The tag tells the kinds apart; the generation, never 0,
// tells the present owner of a slot from those before. So no handle is 0, 1 or 2, which name special streams.
template <typename T, unsigned kTag>
class HandleTable {
 public:
  // Returns 0 when all slots are taken.
  uint64_t add(std::shared_ptr<T> object) {
    std::lock_guard<SpinLock> lock(lock_);
    uint32_t index;
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else {
      if (slots_.size() >= kSlots) return 0;
      index = static_cast<uint32_t>(slots_.size());
      slots_.emplace_back();
    }
    Slot& slot = slots_[index];
    slot.object = std::move(object);
    return static_cast<uint64_t>(slot.generation) << 24 | static_cast<uint64_t>(index) << 4 | kTag;
  }

  // NULL for what is not a live handle of this kind.
  std::shared_ptr<T> get(const void* handle) const {
    std::lock_guard<SpinLock> lock(lock_);
    const Slot* slot = find(handle);
    return slot == nullptr ? nullptr : slot->object;
  }

  // Forgets the handle and returns its object; NULL as for get().
  std::shared_ptr<T> remove(const void* handle) {
    std::lock_guard<SpinLock> lock(lock_);
    Slot* slot = const_cast<Slot*>(find(handle));
    if (slot == nullptr) return nullptr;
    return release(slot);
  }

  // Forgets all handles whose object fulfils `condition`; returns the objects, which the caller drops
  // outside this table's lock.
  template <typename Condition>
  std::vector<std::shared_ptr<T>> remove_if(Condition condition) {
    std::vector<std::shared_ptr<T>> removed;
    std::lock_guard<SpinLock> lock(lock_);
    for (Slot& slot : slots_) {
      if (slot.object != nullptr && condition(*slot.object)) removed.push_back(release(&slot));
    }
    return removed;
  }

 private:
  static constexpr size_t kSlots = size_t{1} << 20;
  struct Slot {
    std::shared_ptr<T> object;
    uint32_t generation = 1;
  };

  const Slot* find(const void* handle) const {
    const uint64_t value = reinterpret_cast<uintptr_t>(handle);
    const uint64_t index = value >> 4 & (kSlots - 1);
    if ((value & 15) != kTag || index >= slots_.size()) return nullptr;
    const Slot& slot = slots_[index];
    if (slot.object == nullptr || slot.generation != value >> 24) return nullptr;
    return &slot;
  }

  std::shared_ptr<T> release(Slot* slot) {
    std::shared_ptr<T> object = std::move(slot->object);
    slot->object = nullptr;
    if (++slot->generation == 0) slot->generation = 1;
    free_.push_back(static_cast<uint32_t>(slot - slots_.data()));
    return object;
  }

  mutable SpinLock lock_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace musabench
