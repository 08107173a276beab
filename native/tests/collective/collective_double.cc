// A stand-in for MCCL's and NCCL's all-reduce of the ranks of one process, for tests of whoever calls it: the exported
// names, argument lists and values of nccl.h, which MCCL has under its own prefix. It checks every argument and
// computes on the host device: one block a rank, on the rank's own stream, that waits for the other ranks. The real
// libraries were never called.
#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "abi/musart_host.h"
#include "kernels/host/launch.h"
#include "tests/elements.h"

namespace {

#ifdef COLLECTIVE_DOUBLE_IS_mccl
#define EXPORTED(name) mccl##name
#else
#define EXPORTED(name) nccl##name
#endif

constexpr int kF16 = 6;
constexpr int kF32 = 7;
constexpr int kBf16 = 9;
using Elements = musabench::Elements<kF32, kF16, kBf16>;
constexpr int kSum = 0;
constexpr int kMostRanks = 64;

enum Result { kSuccess = 0, kUnhandledDeviceError = 1, kInvalidArgument = 4, kInvalidUsage = 5 };

// Where the ranks of one communicator meet; used again by every launch and replay.
struct Meeting {
  explicit Meeting(int ranks) : ranks(ranks) {}

  void wait() {
    const uint64_t seen = generation.load(std::memory_order_acquire);
    if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == ranks) {
      arrived.store(0, std::memory_order_relaxed);
      generation.fetch_add(1, std::memory_order_acq_rel);
      return;
    }
    while (generation.load(std::memory_order_acquire) == seen) sched_yield();
  }

  const int ranks;
  std::atomic<int> arrived{0};
  std::atomic<uint64_t> generation{0};
  const void* send[kMostRanks] = {};
  std::atomic<size_t> count{0};
  std::atomic<bool> differs{false};
};

struct Communicator {
  std::shared_ptr<Meeting> meeting;
  int rank;
  int device;
};

struct Request {
  Communicator* communicator;
  const void* send;
  void* receive;
  size_t count;
  int type;
  musaStream_t stream;
};

thread_local int group_depth = 0;
thread_local std::vector<Request> queued;

struct Reduction {
  Meeting* meeting;
  int rank;
  const void* send;
  void* receive;
  size_t count;
  int type;
};

void reduce(const void* params, uint32_t, uint32_t) {
  const Reduction& r = *static_cast<const Reduction*>(params);
  Meeting& meeting = *r.meeting;
  meeting.send[r.rank] = r.send;
  if (r.rank == 0) meeting.count = r.count;
  meeting.wait();
  if (meeting.count != r.count) meeting.differs = true;
  auto* sums = static_cast<float*>(musaHostLaneScratch(r.count * sizeof(float) + 1));
  for (size_t i = 0; i < r.count; ++i) {
    float sum = 0;
    for (int rank = 0; rank < meeting.ranks; ++rank) {
      sum += Elements::read(meeting.send[rank], r.type, static_cast<int64_t>(i));
    }
    sums[i] = sum;
  }
  meeting.wait();  // Only now may a rank overwrite what another has read.
  for (size_t i = 0; i < r.count; ++i) Elements::write(r.receive, r.type, static_cast<int64_t>(i), sums[i]);
  if (meeting.differs) musaHostKernelFail(musaErrorInvalidValue);
}

int refuse(int result, const char* why) {
  std::fprintf(stderr, "collective test double: %s\n", why);
  return result;
}

int launch(const Request& request) {
  int current = 0;
  if (musaGetDevice(&current) != musaSuccess) return kUnhandledDeviceError;
  if (musaSetDevice(request.communicator->device) != musaSuccess) return kUnhandledDeviceError;
  const Reduction reduction = {request.communicator->meeting.get(),
                               request.communicator->rank,
                               request.send,
                               request.receive,
                               request.count,
                               request.type};
  const int64_t bytes = static_cast<int64_t>(request.count) * Elements::bytes(request.type);
  const int code = musabench::launch_blocks("all_reduce", reduce, 1, reduction, request.receive, bytes, request.stream);
  musaSetDevice(current);
  return code == 0 ? kSuccess : kUnhandledDeviceError;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int EXPORTED(GetVersion)(int* version) {
  if (version == nullptr) return kInvalidArgument;
  *version = 21105;
  return kSuccess;
}

const char* EXPORTED(GetErrorString)(int result) {
  return result == kSuccess ? "no error" : "an error of the collective test double";
}

int EXPORTED(CommInitAll)(void** communicators, int count, const int* devices) {
  if (communicators == nullptr || count < 1 || count > kMostRanks) return kInvalidArgument;
  auto meeting = std::make_shared<Meeting>(count);
  for (int rank = 0; rank < count; ++rank) {
    communicators[rank] = new Communicator{meeting, rank, devices == nullptr ? rank : devices[rank]};
  }
  return kSuccess;
}

int EXPORTED(CommDestroy)(void* communicator) {
  if (communicator == nullptr) return kInvalidArgument;
  delete static_cast<Communicator*>(communicator);
  return kSuccess;
}

int EXPORTED(GroupStart)() {
  ++group_depth;
  return kSuccess;
}

int EXPORTED(GroupEnd)() {
  if (group_depth == 0) return refuse(kInvalidUsage, "GroupEnd without GroupStart");
  if (--group_depth > 0) return kSuccess;
  const std::vector<Request> requests = std::move(queued);
  queued.clear();
  for (const Request& request : requests) {
    // A rank that is missing would be waited for for ever.
    if (static_cast<int>(requests.size()) % request.communicator->meeting->ranks != 0) {
      return refuse(kInvalidUsage, "the group has not all ranks");
    }
  }
  for (const Request& request : requests) {
    const int result = launch(request);
    if (result != kSuccess) return result;
  }
  return kSuccess;
}

int EXPORTED(AllReduce)(const void* send, void* receive, size_t count, int type, int operation, void* communicator,
                        void* stream) {
  if (communicator == nullptr) return refuse(kInvalidArgument, "no communicator");
  if (send == nullptr || receive == nullptr) return refuse(kInvalidArgument, "no memory");
  if (type != kF16 && type != kF32 && type != kBf16) return refuse(kInvalidArgument, "an unknown type");
  if (operation != kSum) return refuse(kInvalidArgument, "only sums are computed here");
  auto* own = static_cast<Communicator*>(communicator);
  if (group_depth == 0 && own->meeting->ranks > 1) {
    return refuse(kInvalidUsage, "several ranks of one thread need a group");
  }
  queued.push_back({own, send, receive, count, type, static_cast<musaStream_t>(stream)});
  if (group_depth > 0) return kSuccess;
  EXPORTED(GroupStart)();
  return EXPORTED(GroupEnd)();
}

}  // extern "C"
#pragma GCC visibility pop
