// Native loops and a memory pool for callers that pay for every crossing into native code.
//
// A call is packed once into an mb_call and launched many times. A timing session (flush, event, launches, event, ...)
// is packed into an array of mb_item and runs as one mb_program_run, with nothing in between but the calls themselves.
// All structures are caller-owned memory with the fixed layouts below; nothing here keeps a pointer past the call,
// except the pool. Functions return 0, what the failing function of the caller returned, or one of MB_ERROR_*.
#pragma once

#include <stdint.h>

#include "../abi/tvm_ffi.h"

#ifdef __cplusplus
extern "C" {
#endif

// Errors of this library; no device runtime or TVM-FFI function returns these.
enum mb_error {
  MB_ERROR_ARGUMENT = -1001,  // a NULL or out-of-range argument, call or item
  MB_ERROR_IN_USE = -1002,    // the pool still has tensors alive, or is another thread's current one
  MB_ERROR_MEMORY = -1003     // host memory is out
};

// ---- Calls

// One prepared TVM-FFI call.
//
//   offset  0  fn        the kernel, e.g. the address of __tvm_ffi_gemm
//           8  args      num_args packed arguments; what they point to is the caller's and must stay
//          16  num_args
//          20  reserved  0
//          24  result    written by each run
typedef struct mb_call {
  TVMFFISafeCallType fn;
  const TVMFFIAny* args;
  int32_t num_args;
  int32_t reserved;
  TVMFFIAny result;
} mb_call;

// Runs the call and leaves its result in call->result. A result that is an object (type_index >= 64) is then the
// caller's, to be released with TVMFFIObjectDecRef; one left from before is overwritten, not released.
// Returns what fn returned: 0, or -1 with the error raised in this thread (TVMFFIErrorMoveFromRaised).
int mb_call_invoke(mb_call* call);

// The same for callers that want no result: an object result is released at once. For timed loops.
int mb_call_launch(mb_call* call);

// Launches calls[0], calls[1], ... calls[count - 1]. Stops at the first that fails: *failed (may be NULL) is then its
// index, else -1.
int mb_calls_launch(mb_call* const* calls, int32_t count, int32_t* failed);

// Two calls in one, where the second takes what the first returns. A TVMFFISafeCallType: the chain is an mb_call too.
//
//   args[0]   OpaquePtr, the first mb_call
//   args[1]   OpaquePtr, the second mb_call
//   args[2+i] Int, which argument of the second call becomes the i-th value that the first one returns; -1: none
//
// Values are counted depth first through nested arrays: [[a, b], 4] is a, b, 4. The first call's result is released
// after the second call, so memory that the first allocated from the environment is not handed out again in between.
// The second call's arguments are written in place and are None again afterwards. The result is the second call's.
// A first call that returns another number of values raises a ValueError, and the second is not run.
int mb_call_chain(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result);

// ---- Vendors' libraries

// cublasGemmEx or mublasGemmEx as a TVMFFISafeCallType: out[M, N] = a[M, K] . b[N, K]^T of row-major matrices, whose
// rows may have a stride.
//
//   args[0]  OpaquePtr, the address of GemmEx
//   args[1]  OpaquePtr, the handle; its stream is where the product is queued
//   args[2]  a, args[3]  b, args[4]  out: tensors
//   args[5]  Int, the library's value for an operand as it is, args[6] for its transpose
//   args[7]  Int, its type of a and b, args[8] of out
//   args[9]  Int, its compute type, args[10] its algorithm
//
// A status that is not 0 raises a RuntimeError with it.
int mb_gemm_ex(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result);

// One all-reduce of several ranks of this process, as a group, by NCCL's or MCCL's functions; a TVMFFISafeCallType.
//
//   args[0]  OpaquePtr, GroupStart; args[1] AllReduce; args[2] GroupEnd
//   args[3]  Int, the library's type; args[4] its operation
//   then for each rank: the tensor to send, the one to receive, OpaquePtr the communicator, OpaquePtr its stream
int mb_all_reduce(void* self, const TVMFFIAny* args, int32_t num_args, TVMFFIAny* result);

// ---- Programs

enum mb_item_kind {
  // Nothing. What the loop itself costs.
  MB_NOP = 0,
  // mb_call_launch(args[0] as mb_call*), `count` times.
  MB_CALL = 1,
  // mb_calls_launch(args[0] as mb_call* const*, count).
  MB_CALLS = 2,
  // fn(args[0], ... args[count - 1]), 0 <= count <= 6: any C function that takes integers and pointers and returns an
  // int that is 0 when it worked, above all the device runtime's: musaGraphLaunch(exec, stream),
  // musaEventRecord(event, stream), musaMemsetAsync(memory, value, bytes, stream), musaStreamSynchronize(stream).
  MB_FUNCTION = 3,
  // Spins args[0] nanoseconds of host time.
  MB_SPIN = 4
};

// One step of a program; 64 bytes, a cache line.
//
//   offset  0  kind   mb_item_kind
//           4  count  as the kind says
//           8  fn     MB_FUNCTION only
//          16  args   six integers or addresses
typedef struct mb_item {
  int32_t kind;
  int32_t count;
  void* fn;
  uint64_t args[6];
} mb_item;

// Runs the items in order in the calling thread and stops at the first that fails. Allocates nothing.
//
// failed   may be NULL; index of the item that failed, or -1.
// host_ns  may be NULL; else count + 1 times of CLOCK_MONOTONIC in nanoseconds (System.nanoTime's clock on Linux):
//          host_ns[i] is taken before item i, host_ns[i + 1] after it, so item i took host_ns[i + 1] - host_ns[i],
//          which includes one reading of the clock (about 20 ns). After a failure at item i, times past
//          host_ns[i + 1] are left as they were.
// Returns 0, or what the failed item returned: -1 from a TVM-FFI call, the device runtime's error from a function,
// MB_ERROR_ARGUMENT for an item that is malformed. Unknown kinds and bad counts are found before anything runs.
int mb_program_run(const mb_item* items, int64_t count, int64_t* failed, int64_t* host_ns);

// ---- Holding a stream

// Keeps a stream from going on while work is queued behind it, so that no launch latency gets between the two events
// around that work. A hold is a host function on the stream; it waits until the caller has released it:
//
//   musaLaunchHostFunc(stream, mb_hold_wait, &hold);  musaEventRecord(start, stream);  ... launches ...
//   musaEventRecord(stop, stream);  mb_hold_release(&hold);
//
// The n-th wait is over when the n-th release has come, so a caller that is ahead of the stream holds nothing up. Never
// a hang: a wait ends by itself after limit_ns, for example when the stream's queue is full and the launch that would
// come before the release waits for the stream. That wait is counted, and none after it waits at all.
//
//   offset  0  released  releases so far; UINT64_MAX: nothing waits any more
//           8  arrived   waits that the stream has come to
//          16  waited    those of them that had to wait
//          24  expired   those that ended by the limit
//          32  limit_ns  the limit, set by the caller
//
// The memory is the caller's and must stay until the stream has drained. Reset it (all but the limit to 0) only then.
typedef struct mb_hold {
  uint64_t released;
  uint64_t arrived;
  uint64_t waited;
  uint64_t expired;
  uint64_t limit_ns;
} mb_hold;

// A musaHostFn_t; `hold` is an mb_hold. Spins, because whoever sleeps wakes up late; it yields the CPU meanwhile.
void mb_hold_wait(void* hold);

// Ends the next wait. Returns 0, so that it can be an item of a program.
int mb_hold_release(mb_hold* hold);

// Ends all waits, those to come included. Returns 0.
int mb_hold_open(mb_hold* hold);

// ---- Pool

// Device memory for kernels that allocate through TVMFFIEnvTensorAlloc. A released block is kept and handed to a later
// tensor of its size class on the same stream, so that a warm call costs no musaMalloc (which waits for the device and
// is forbidden during capture). Thread-safe.
//
// A block that was handed out while its stream captured is from then on for captures of that stream alone, until the
// pool is destroyed: a graph that is replayed, on whatever stream, never shares scratch with calls outside of graphs.
// The first capture takes over the blocks of the calls before it (so warm up before capturing, and let the stream drain
// before the first replay elsewhere). Graphs captured from one stream share their scratch and must not run at once.
//
//   mb_pool_create(musaMalloc, musaFree, musaStreamIsCapturing, &pool);
//   mb_pool_use(pool, NULL);
//   TVMFFIEnvSetDLPackManagedTensorAllocator(mb_pool_allocate, 0, NULL);
typedef struct mb_pool mb_pool;

typedef int (*mb_malloc_fn)(void** memory, size_t bytes);      // musaMalloc
typedef int (*mb_free_fn)(void* memory);                       // musaFree
typedef int (*mb_is_capturing_fn)(void* stream, int* status);  // musaStreamIsCapturing; status 0: it is not

//   offset  0  allocations      tensors handed out
//           8  hits             those of them that needed no malloc_fn
//          16  live_tensors     handed out and not yet released
//          24  reserved_bytes   device memory held, free blocks included
//          32  live_bytes       the part of it that tensors hold
//          40  peak_live_bytes  the greatest live_bytes so far
typedef struct mb_pool_stats {
  int64_t allocations;
  int64_t hits;
  int64_t live_tensors;
  int64_t reserved_bytes;
  int64_t live_bytes;
  int64_t peak_live_bytes;
} mb_pool_stats;

// is_capturing_fn may be NULL where nothing is ever captured.
int mb_pool_create(mb_malloc_fn malloc_fn, mb_free_fn free_fn, mb_is_capturing_fn is_capturing_fn, mb_pool** out);

// Frees all blocks and the pool. The stream must have drained and graphs that use the blocks be gone. With tensors
// still alive, or as the current pool of another thread, it frees nothing and returns MB_ERROR_IN_USE. If free_fn
// fails, the rest is freed all the same and the first error returned.
int mb_pool_destroy(mb_pool* pool);

// Makes `pool` (NULL: none) the one that mb_pool_allocate takes from in this thread. *previous (may be NULL) is the one
// before.
int mb_pool_use(mb_pool* pool, mb_pool** previous);

int mb_pool_get_stats(mb_pool* pool, mb_pool_stats* out);

// A DLPackManagedTensorAllocator over the thread's current pool. New blocks are made with malloc_fn on the device that
// is current in the calling thread, which must be the prototype's. The memory is not cleared. At most 8 dimensions.
// Blocks are sized 512 bytes and up in quarters of a power of two, so at most a fifth is slack.
int mb_pool_allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_ctx,
                     void (*set_error)(void* error_ctx, const char* kind, const char* message));

// Host time of making `tensors` (1 to 64) tensors like `prototype` through TVMFFIEnvTensorAlloc, all alive at once, and
// of releasing them: what a kernel that allocates pays in each launch. nanos[i], 0 <= i < rounds, is that of one round,
// which includes one reading of the clock. The first tensors are made before, untimed. -1: the allocation failed and
// the error is raised in this thread.
int mb_allocations_measure(DLTensor* prototype, int32_t tensors, int32_t rounds, int64_t* nanos);

#ifdef __cplusplus
}

static_assert(sizeof(mb_call) == 40 && offsetof(mb_call, num_args) == 16 && offsetof(mb_call, result) == 24, "mb_call");
static_assert(sizeof(mb_item) == 64 && offsetof(mb_item, fn) == 8 && offsetof(mb_item, args) == 16, "mb_item");
static_assert(sizeof(mb_hold) == 40 && offsetof(mb_hold, limit_ns) == 32, "mb_hold");
static_assert(sizeof(mb_pool_stats) == 48, "mb_pool_stats");
#endif
