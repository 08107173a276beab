#include "runtime/stream.h"

#include <mutex>
#include <string>
#include <utility>

#include "runtime/device.h"
#include "runtime/threads.h"

namespace musabench {

struct Stream::Entry {
  Entry* next = nullptr;
  uint64_t sequence = 0;
  std::vector<StreamPoint> after;
  std::shared_ptr<EventRecord> record;
  Work work;
};

namespace {
// Kept for use again: enough for the launches of a large step.
constexpr int kMaxSpares = 2048;
}  // namespace

Stream::Stream(Device& device, Kind kind) : device_(device), kind_(kind), progress_(std::make_shared<Progress>()) {}

Stream::~Stream() {
  for (Entry* list : {first_, spare_}) {
    while (list != nullptr) {
      Entry* entry = list;
      list = list->next;
      delete entry;
    }
  }
}

Stream::Entry* Stream::new_entry() {
  {
    std::lock_guard<SpinLock> lock(lock_);
    if (spare_ != nullptr) {
      Entry* entry = spare_;
      spare_ = entry->next;
      --spares_;
      return entry;
    }
  }
  return new Entry;
}

// The legacy stream and the blocking streams wait for each other. What is read here was submitted before this
// entry gets its number, so two entries never wait for each other.
void Stream::add_legacy_dependencies(Entry& entry) {
  if (kind_ == Kind::kBlocking) {
    const std::shared_ptr<Stream> legacy = device_.legacy_stream_if_used();
    if (legacy != nullptr && !legacy->idle()) entry.after.push_back(legacy->tail());
  } else if (kind_ == Kind::kLegacy) {
    for (const auto& stream : device_.streams()) {
      if (stream->kind() == Kind::kBlocking && !stream->idle()) entry.after.push_back(stream->tail());
    }
  }
}

musaError_t Stream::submit(Work&& work, std::shared_ptr<EventRecord> record, const StreamPoint* after,
                           StreamPoint* done) {
  const uint64_t depth = device_.queue_depth();
  if (depth > 0) {
    const uint64_t submitted = submitted_.load(std::memory_order_relaxed);
    if (submitted >= depth) progress_->wait(submitted - depth + 1, &device_.stopping());
  }
  std::unique_ptr<Entry> entry(new_entry());
  entry->next = nullptr;
  entry->work = std::move(work);
  entry->after.clear();
  if (after != nullptr && after->progress != progress_ && !after->reached()) entry->after.push_back(*after);
  add_legacy_dependencies(*entry);
  EventRecord* const recorded = record.get();
  entry->record = std::move(record);
  {
    std::lock_guard<SpinLock> lock(lock_);
    if (closed_) return musaErrorInvalidResourceHandle;
    if (!started_) start();
    entry->sequence = submitted_.load(std::memory_order_relaxed) + 1;
    if (recorded != nullptr) recorded->point = {progress_, entry->sequence};
    if (done != nullptr) *done = {progress_, entry->sequence};
    submitted_.store(entry->sequence, std::memory_order_release);
    (last_ == nullptr ? first_ : last_->next) = entry.get();
    last_ = entry.release();
  }
  attention_.store(true, std::memory_order_release);
  wake_.notify();
  return musaSuccess;
}

void Stream::close() {
  bool running;
  {
    std::lock_guard<SpinLock> lock(lock_);
    closed_ = true;
    running = started_;
  }
  if (!running) {
    device_.forget(this);
    return;
  }
  attention_.store(true, std::memory_order_release);
  wake_.notify();
}

void Stream::start() {
  start_thread("musart" + std::to_string(device_.id()) + "-s", device_.lanes().first_cpu(),
               [self = shared_from_this()] { self->loop(); });
  started_ = true;
}

void Stream::loop() {
  current_device() = device_.id();
  Entry* done_first = nullptr;
  Entry* done_last = nullptr;
  int done_count = 0;
  for (;;) {
    const int64_t idle_since = now_ns();
    wake_.wait([&] {
      return attention_.load(std::memory_order_relaxed) && attention_.exchange(false, std::memory_order_acq_rel);
    });
    // Lanes go to sleep when this thread does. They are woken before the first entry, not by the first kernel: its
    // time shall not include their waking up.
    bool lanes_asleep = now_ns() - idle_since > kSpin.count();
    bool waited = false;  // for another stream or in a host function, while lanes fell asleep
    for (;;) {
      Entry* batch;
      bool closed;
      {
        std::lock_guard<SpinLock> lock(lock_);
        if (done_first != nullptr && spares_ + done_count <= kMaxSpares) {
          done_last->next = spare_;
          spare_ = done_first;
          spares_ += done_count;
          done_first = nullptr;
        }
        batch = first_;
        first_ = last_ = nullptr;
        closed = closed_;
      }
      while (done_first != nullptr) {
        Entry* entry = done_first;
        done_first = entry->next;
        delete entry;
      }
      done_count = 0;
      if (batch == nullptr) {
        if (closed) {
          device_.forget(this);
          return;
        }
        break;
      }
      const auto wake_lanes_for = [&](const Entry* entry) {
        for (; lanes_asleep && entry != nullptr; entry = entry->next) {
          if (!entry->work.wants_lanes()) continue;
          // After a wait the first kernel may follow at once, and then alerting alone would come too late.
          waited ? device_.lanes().muster() : device_.lanes().alert();
          lanes_asleep = waited = false;
        }
      };
      wake_lanes_for(batch);
      done_first = batch;
      for (Entry* entry = batch; entry != nullptr; entry = entry->next) {
        const bool may_wait = entry->work.kind == Work::Kind::kHostFunction || !entry->after.empty();
        const int64_t since = may_wait ? now_ns() : 0;
        execute(*entry);
        if (may_wait && now_ns() - since > kSpin.count()) {
          lanes_asleep = waited = true;
          wake_lanes_for(entry->next);
        }
        done_last = entry;
        ++done_count;
      }
    }
  }
}

void Stream::execute(Entry& entry) {
  for (const StreamPoint& point : entry.after) point.progress->wait(point.sequence, &device_.stopping());
  if (device_.usable()) {
    const musaError_t error = run_work(entry.work, device_);
    if (error != musaSuccess) device_.fail(error);
  }
  if (entry.record != nullptr) entry.record->time_ns.store(now_ns(), std::memory_order_release);
  // Let go before the point is reached: whoever waits for it may look at what is still referenced.
  entry.record.reset();
  entry.work.graph.reset();
  entry.after.clear();
  progress_->advance(entry.sequence);
}

}  // namespace musabench
