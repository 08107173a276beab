// Attention against the roofs of the same run: attention_bench [regex of case names] [rounds].
//
// In each round every case follows a read of 128 MiB of other memory, which leaves its caches cold, and its own roofs:
// as many bytes read, a few ms of multiply-adds. A machine shared with others has moods of many ms; so a case is
// divided by the roofs just before it, and the medians over the rounds are printed. Streams of the read alternate with
// the rounds.
//   GB/s    keys and values read once, of the lengths in use
//   GFLOP/s 2 * q heads * (dim_qk + dim_v) * visible (query, key) pairs
//   % roof  of the roof that binds, bandwidth or arithmetic
//   gather  % of the read roof that a kernel reaches which only reads a decode's rows, in the order of its page table:
//           what random pages leave of the roof
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "abi/musa_runtime.h"
#include "abi/musart_host.h"
#include "abi/tvm_ffi.h"

extern "C" {
int __tvm_ffi_fmha_prefill(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_paged_attention(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_paged_attention_workspace(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_read_bandwidth(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_peak_flops(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_peak_flops_per_iteration(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
int __tvm_ffi_random_fill(void*, const TVMFFIAny*, int32_t, TVMFFIAny*);
}

namespace {

constexpr DLDataType kBf16 = {kDLBfloat, 16, 1};
constexpr DLDataType kFp16 = {kDLFloat, 16, 1};
constexpr DLDataType kF32 = {kDLFloat, 32, 1};
constexpr DLDataType kI32 = {kDLInt, 32, 1};
constexpr DLDataType kU8 = {kDLUInt, 8, 1};

void require(int code, const char* what) {
  if (code == 0) return;
  std::fprintf(stderr, "attention_bench: %s failed with %d\n", what, code);
  std::exit(1);
}

// Device memory for the life of the program.
struct Tensor {
  Tensor(DLDataType dtype, std::vector<int64_t> extents) : shape(std::move(extents)), strides(shape.size()) {
    int64_t n = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      strides[i] = n;
      n *= shape[i];
    }
    dl = {};
    require(musaMalloc(&dl.data, static_cast<size_t>(std::max<int64_t>(n, 1)) * dtype.bits / 8), "musaMalloc");
    std::memset(dl.data, 0, static_cast<size_t>(n) * dtype.bits / 8);
    dl.device = {kDLCPU, 0};
    dl.ndim = static_cast<int32_t>(shape.size());
    dl.dtype = dtype;
    dl.shape = shape.data();
    dl.strides = strides.data();
  }
  Tensor(const Tensor&) = delete;
  ~Tensor() { musaFree(dl.data); }
  int32_t* ints() { return static_cast<int32_t*>(dl.data); }

  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  DLTensor dl;
};

TVMFFIAny any(Tensor& t) {
  TVMFFIAny a = {};
  a.type_index = kTVMFFIDLTensorPtr;
  a.v_ptr = &t.dl;
  return a;
}
TVMFFIAny any(int64_t v) {
  TVMFFIAny a = {};
  a.type_index = kTVMFFIInt;
  a.v_int64 = v;
  return a;
}
TVMFFIAny any(double v) {
  TVMFFIAny a = {};
  a.type_index = kTVMFFIFloat;
  a.v_float64 = v;
  return a;
}
TVMFFIAny any(std::nullptr_t) { return TVMFFIAny{}; }

int64_t invoke(TVMFFISafeCallType function, const std::vector<TVMFFIAny>& args) {
  TVMFFIAny result = {};
  if (function(nullptr, args.data(), static_cast<int32_t>(args.size()), &result) != 0) {
    TVMFFIObjectHandle error = nullptr;
    TVMFFIErrorMoveFromRaised(&error);
    const auto* cell = reinterpret_cast<const TVMFFIErrorCell*>(static_cast<char*>(error) + sizeof(TVMFFIObject));
    std::fprintf(stderr, "attention_bench: %s\n", cell->message.data);
    std::exit(1);
  }
  return result.v_int64;
}

// Device times on the legacy stream: work is queued between marks, all of it before any of it is waited for, so that
// the device does not go to sleep in between.
class Session {
 public:
  Session() { mark(); }
  void mark() {
    if (used_ == events().size()) {
      events().push_back(nullptr);
      require(musaEventCreate(&events().back()), "musaEventCreate");
    }
    require(musaEventRecord(events()[used_++], nullptr), "musaEventRecord");
  }
  // Seconds between the marks, the beginning being one.
  std::vector<double> finish() {
    require(musaEventSynchronize(events()[used_ - 1]), "musaEventSynchronize");
    std::vector<double> seconds;
    for (size_t i = 0; i + 1 < used_; ++i) {
      float ms = 0;
      require(musaEventElapsedTime(&ms, events()[i], events()[i + 1]), "musaEventElapsedTime");
      seconds.push_back(ms / 1e3);
    }
    return seconds;
  }

 private:
  static std::vector<musaEvent_t>& events() {
    static std::vector<musaEvent_t> all;
    return all;
  }
  size_t used_ = 0;
};

// Reads the rows of paged sequences: keys, then values of a block of tokens, while the next block is fetched, eight
// rows side by side. As an attention kernel would, but with nothing to compute.
struct Gather {
  static constexpr int64_t kTokens = 32;

  const char* caches[2];
  const int32_t* table;
  int64_t tokens;     // of a row of the table
  int64_t table_row;  // entries
  int64_t batch;
  int64_t page_size;
  int64_t span;       // bytes of a token's row
  int64_t per_block;  // tokens of a block, a multiple of kTokens

  const char* row(int cache, int64_t b, int64_t token) const {
    const int64_t page = table[b * table_row + token / page_size];
    return caches[cache] + (page * page_size + token % page_size) * span;
  }
};

void gather_block(const void* params, uint32_t block, uint32_t) {
  typedef uint64_t Line __attribute__((vector_size(16)));
  const Gather& g = *static_cast<const Gather*>(params);
  const int64_t blocks_a_row = (g.tokens + g.per_block - 1) / g.per_block;
  const int64_t b = block / blocks_a_row;
  const int64_t begin = block % blocks_a_row * g.per_block;
  const int64_t end = std::min(g.tokens, begin + g.per_block);
  Line sum[4] = {};
  const char* now[Gather::kTokens];
  const char* next[Gather::kTokens];
  for (int64_t t = begin; t < end; t += Gather::kTokens) {
    for (int cache = 0; cache < 2; ++cache) {
      const int64_t n = std::min(Gather::kTokens, end - t);
      const int64_t ahead = std::max<int64_t>(0, std::min(Gather::kTokens, end - t - Gather::kTokens));
      for (int64_t i = 0; i < n; ++i) now[i] = g.row(cache, b, t + i);
      for (int64_t i = 0; i < ahead; ++i) next[i] = g.row(cache, b, t + Gather::kTokens + i);
      for (int64_t i = 0; i < n; i += 8) {
        const int64_t rows = std::min<int64_t>(8, n - i);
        const int64_t fetched = std::max<int64_t>(0, std::min(rows, ahead - i));
        for (int64_t at = 0; at < g.span; at += 64) {
          for (int64_t r = 0; r < rows; ++r) {
            const Line* line = reinterpret_cast<const Line*>(now[i + r] + at);
            for (int j = 0; j < 4; ++j) sum[j] ^= line[j];
          }
          for (int64_t r = 0; r < fetched; ++r) __builtin_prefetch(next[i + r] + at, 0, 2);
        }
      }
    }
  }
  sum[0] ^= sum[1] ^ sum[2] ^ sum[3];
  asm volatile("" : : "m"(sum[0]));
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v.empty() ? 0 : v[v.size() / 2];
}

struct Case {
  std::string name;
  bool decode = true;
  DLDataType dtype = kBf16;
  std::vector<int64_t> q_lens;
  std::vector<int64_t> k_lens;
  int64_t q_heads = 16;
  int64_t kv_heads = 8;
  int64_t dim = 128;
  int64_t dim_v = 128;
  int64_t page_size = 16;
  bool causal = true;

  double pairs() const {
    double n = 0;
    for (size_t b = 0; b < q_lens.size(); ++b) {
      for (int64_t i = 0; i < q_lens[b]; ++i) {
        n += static_cast<double>(causal ? std::max<int64_t>(0, i + 1 + k_lens[b] - q_lens[b]) : k_lens[b]);
      }
    }
    return n;
  }
  double flops() const { return 2.0 * static_cast<double>(q_heads * (dim + dim_v)) * pairs(); }
  double bytes() const {
    const int64_t keys = std::accumulate(k_lens.begin(), k_lens.end(), int64_t{0});
    return static_cast<double>(keys * kv_heads * (dim + dim_v) * 2);
  }
};

// Inputs of a case, drawn from shared pools of pages.
class Runner {
 public:
  Runner(const Case& c, Tensor& pool) : c_(c) {
    const int64_t total_q = std::accumulate(c.q_lens.begin(), c.q_lens.end(), int64_t{0});
    const auto batch = static_cast<int64_t>(c.q_lens.size());
    q_ = std::make_unique<Tensor>(c.dtype, std::vector<int64_t>{total_q, c.q_heads, c.dim});
    out_ = std::make_unique<Tensor>(c.dtype, std::vector<int64_t>{total_q, c.q_heads, c.dim_v});
    fill(*q_);
    cu_q_ = std::make_unique<Tensor>(kI32, std::vector<int64_t>{batch + 1});
    cu_k_ = std::make_unique<Tensor>(kI32, std::vector<int64_t>{batch + 1});
    for (int64_t b = 0; b < batch; ++b) {
      cu_q_->ints()[b + 1] = cu_q_->ints()[b] + static_cast<int32_t>(c.q_lens[static_cast<size_t>(b)]);
      cu_k_->ints()[b + 1] = cu_k_->ints()[b] + static_cast<int32_t>(c.k_lens[static_cast<size_t>(b)]);
    }
    const int64_t bytes = pool.shape[0];
    if (!c.decode) {
      const int64_t total_k = cu_k_->ints()[batch];
      k_ = view(pool, 0, {total_k, c.kv_heads, c.dim});
      v_ = view(pool, bytes / 2, {total_k, c.kv_heads, c.dim_v});
      return;
    }
    const int64_t pages = bytes / 2 / (c.page_size * c.kv_heads * c.dim * 2);
    k_ = view(pool, 0, {pages, c.page_size, c.kv_heads, c.dim});
    v_ = view(pool, bytes / 2, {pages, c.page_size, c.kv_heads, c.dim});
    const int64_t longest = *std::max_element(c.k_lens.begin(), c.k_lens.end());
    const int64_t max_pages = (longest + c.page_size - 1) / c.page_size;
    seqused_ = std::make_unique<Tensor>(kI32, std::vector<int64_t>{batch});
    for (int64_t b = 0; b < batch; ++b) seqused_->ints()[b] = static_cast<int32_t>(c.k_lens[static_cast<size_t>(b)]);
    std::vector<int32_t> order(static_cast<size_t>(pages));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(std::hash<std::string>()(c.name))));
    size_t next = 0;
    const int64_t sets = std::max<int64_t>(1, pages / (max_pages * batch));
    for (int64_t set = 0; set < sets; ++set) {
      tables_.push_back(std::make_unique<Tensor>(kI32, std::vector<int64_t>{batch, max_pages}));
      for (int64_t i = 0; i < max_pages * batch; ++i) tables_.back()->ints()[i] = order[next++ % order.size()];
    }
    workspace_ = std::make_unique<Tensor>(
        kU8, std::vector<int64_t>{
                 std::max<int64_t>(16, invoke(__tvm_ffi_paged_attention_workspace,
                                              {any(batch), any(max_q()), any(total_q), any(c.q_heads), any(c.kv_heads),
                                               any(c.dim), any(max_pages * c.page_size), any(int64_t{0})}))});
  }

  void launch() {
    const double scale = 0.08;
    if (!c_.decode) {
      invoke(__tvm_ffi_fmha_prefill,
             {any(*q_), any(*k_), any(*v_), any(scale), any(*out_), any(nullptr), any(int64_t{c_.causal}), any(*cu_q_),
              any(*cu_k_), any(nullptr), any(nullptr), any(int64_t{-1}), any(int64_t{-1}), any(0.0)});
      return;
    }
    Tensor& table = *tables_[turn_++ % tables_.size()];
    invoke(__tvm_ffi_paged_attention,
           {any(*q_), any(*k_), any(*v_), any(table), any(*seqused_), any(*cu_q_), any(max_q()), any(scale), any(*out_),
            any(nullptr), any(int64_t{c_.causal}), any(int64_t{-1}), any(int64_t{-1}), any(0.0), any(int64_t{0}),
            any(*workspace_)});
  }

  // Of equal lengths only. False: this case has none.
  bool launch_gather() {
    if (!c_.decode) return false;
    for (const int64_t k_len : c_.k_lens) {
      if (k_len != c_.k_lens[0]) return false;
    }
    Tensor& table = *tables_[turn_++ % tables_.size()];
    Gather g = {};
    g.caches[0] = static_cast<const char*>(k_->dl.data);
    g.caches[1] = static_cast<const char*>(v_->dl.data);
    g.table = table.ints();
    g.tokens = c_.k_lens[0];
    g.table_row = table.shape[1];
    g.batch = table.shape[0];
    g.page_size = c_.page_size;
    g.span = c_.kv_heads * c_.dim * 2;
    const int64_t share = g.tokens * g.batch / (8 * int64_t{musaHostLaneCount()}) / Gather::kTokens;
    g.per_block = std::max<int64_t>(1, share) * Gather::kTokens;
    musaHostLaunch launch = {};
    launch.name = "gather";
    launch.run = &gather_block;
    launch.blocks = static_cast<uint32_t>(g.batch * ((g.tokens + g.per_block - 1) / g.per_block));
    launch.params = &g;
    launch.params_bytes = sizeof g;
    require(musaHostLaunchKernel(&launch, nullptr), "musaHostLaunchKernel");
    return true;
  }

  std::vector<double> seconds;
  std::vector<double> of_read;  // %, of the roofs just before
  std::vector<double> of_peak;
  std::vector<double> gather;
  const Case& shape() const { return c_; }

 private:
  int64_t max_q() const { return *std::max_element(c_.q_lens.begin(), c_.q_lens.end()); }
  std::unique_ptr<Tensor> view(Tensor& pool, int64_t offset, std::vector<int64_t> extents) {
    auto t = std::make_unique<Tensor>(c_.dtype, std::vector<int64_t>{0});
    t->shape = std::move(extents);
    t->strides.resize(t->shape.size());
    int64_t n = 1;
    for (size_t i = t->shape.size(); i-- > 0;) {
      t->strides[i] = n;
      n *= t->shape[i];
    }
    musaFree(t->dl.data);
    t->dl.data = static_cast<char*>(pool.dl.data) + offset;
    t->dl.ndim = static_cast<int32_t>(t->shape.size());
    t->dl.shape = t->shape.data();
    t->dl.strides = t->strides.data();
    borrowed_.push_back(t.get());
    return t;
  }
  static void fill(Tensor& t) { invoke(__tvm_ffi_random_fill, {any(t), any(int64_t{1}), any(1.0)}); }

  Case c_;
  std::unique_ptr<Tensor> q_, k_, v_, out_, cu_q_, cu_k_, seqused_, workspace_;
  std::vector<std::unique_ptr<Tensor>> tables_;
  std::vector<Tensor*> borrowed_;
  size_t turn_ = 0;

 public:
  ~Runner() {
    for (Tensor* t : borrowed_) t->dl.data = nullptr;
  }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const auto decode = [&](const char* name, std::vector<int64_t> k_lens, int64_t q_heads, int64_t kv_heads,
                          int64_t dim = 128, int64_t page_size = 16, DLDataType dtype = kBf16, int64_t q_len = 1) {
    Case c;
    c.name = name;
    c.q_lens.assign(k_lens.size(), q_len);
    c.k_lens = std::move(k_lens);
    c.q_heads = q_heads;
    c.kv_heads = kv_heads;
    c.dim = c.dim_v = dim;
    c.page_size = page_size;
    c.dtype = dtype;
    cases.push_back(c);
  };
  const auto prefill = [&](const char* name, std::vector<int64_t> lens, int64_t q_heads, int64_t kv_heads, int64_t dim,
                           int64_t dim_v, bool causal = true, DLDataType dtype = kBf16) {
    Case c;
    c.name = name;
    c.decode = false;
    c.q_lens = c.k_lens = std::move(lens);
    c.q_heads = q_heads;
    c.kv_heads = kv_heads;
    c.dim = dim;
    c.dim_v = dim_v;
    c.causal = causal;
    c.dtype = dtype;
    cases.push_back(c);
  };
  decode("decode 16:8 q1s4k", {4096}, 16, 8);
  decode("decode 16:8 q1s4k page 64", {4096}, 16, 8, 128, 64);
  decode("decode 16:8 q1s4k page 1", {4096}, 16, 8, 128, 1);
  decode("decode 16:8 q1s4k fp16", {4096}, 16, 8, 128, 16, kFp16);
  decode("decode 16:8 8q1s4k", std::vector<int64_t>(8, 4096), 16, 8);
  decode("decode 16:8 q1s16k", {16384}, 16, 8);
  decode("decode 16:8 q1s512", {512}, 16, 8);
  decode("decode 16:8 ragged", {100, 9000, 257, 4096, 1, 30, 2048, 5000}, 16, 8);
  decode("decode 8:8 q1s4k", {4096}, 8, 8);
  decode("decode 32:32 q1s4k", {4096}, 32, 32);
  decode("decode 8:4 d256 q1s4k", {4096}, 8, 4, 256);
  decode("decode 16:8 d64 q1s8k", {8192}, 16, 8, 64);
  decode("decode 32:8 q1s4k", {4096}, 32, 8);
  decode("decode 64:8 q1s4k", {4096}, 64, 8);
  decode("decode 64:8 8q1s4k", std::vector<int64_t>(8, 4096), 64, 8);
  decode("decode 64:8 q1s4k fp16", {4096}, 64, 8, 128, 16, kFp16);
  decode("decode 16:2 q1s4k", {4096}, 16, 2);
  decode("decode 16:2 8q1s4k", std::vector<int64_t>(8, 4096), 16, 2);
  decode("decode 8:1 q1s16k", {16384}, 8, 1);
  decode("verify 16:8 8q4s4k", std::vector<int64_t>(8, 4096), 16, 8, 128, 16, kBf16, 4);
  decode("chunk 16:8 q512s4k", {4096}, 16, 8, 128, 16, kBf16, 512);
  prefill("prefill 16:8 q512", {512}, 16, 8, 128, 128);
  prefill("prefill 16:8 q1k", {1024}, 16, 8, 128, 128);
  prefill("prefill 16:8 q1k fp16", {1024}, 16, 8, 128, 128, true, kFp16);
  prefill("prefill 16:8 q2k", {2048}, 16, 8, 128, 128);
  prefill("prefill 32:8 q1k", {1024}, 32, 8, 128, 128);
  prefill("prefill 8:8 q1k", {1024}, 8, 8, 128, 128);
  prefill("prefill 16:8 q1k full", {1024}, 16, 8, 128, 128, false);
  prefill("prefill 16:8 4q1k", {1024, 1024, 1024, 1024}, 16, 8, 128, 128);
  prefill("prefill 16:8 q1k d64", {1024}, 16, 8, 64, 64);
  prefill("prefill 16:8 q1k d80", {1024}, 16, 8, 80, 80);
  prefill("prefill 16:8 q1k d96", {1024}, 16, 8, 96, 96);
  prefill("prefill 16:8 q1k d192/128", {1024}, 16, 8, 192, 128);
  prefill("prefill 16:8 q1k d256", {1024}, 16, 8, 256, 256);
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  const std::regex wanted(argc > 1 ? argv[1] : "");
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;

  const int64_t roof_bytes = int64_t{512} << 20;
  Tensor pool_bf16(kBf16, {int64_t{384} << 19});
  Tensor pool_fp16(kFp16, {int64_t{384} << 19});
  for (Tensor* pool : {&pool_bf16, &pool_fp16}) {
    invoke(__tvm_ffi_random_fill, {any(*pool), any(int64_t{3}), any(1.0)});
    require(musaDeviceSynchronize(), "musaDeviceSynchronize");
    pool->shape[0] *= 2;  // bytes from here on
  }
  Tensor roof(kU8, {roof_bytes});
  Tensor sink(kF32, {16});
  std::vector<std::unique_ptr<Runner>> runners;
  for (const Case& c : all_cases()) {
    if (std::regex_search(c.name, wanted)) {
      runners.push_back(std::make_unique<Runner>(c, c.dtype.code == kDLBfloat ? pool_bf16 : pool_fp16));
    }
  }
  const int64_t iterations = 100000;
  const double flops =
      static_cast<double>(invoke(__tvm_ffi_peak_flops_per_iteration, {})) * static_cast<double>(iterations);
  // Where the next read begins: it goes around in memory that is much larger than the caches.
  int64_t position = 0;
  const auto read = [&](int64_t bytes, int64_t streams) {
    if (position + bytes > roof_bytes) position = 0;
    Tensor part(kU8, {0});
    musaFree(part.dl.data);
    part.dl.data = static_cast<char*>(roof.dl.data) + position;
    part.shape[0] = bytes;
    position += bytes;
    invoke(__tvm_ffi_read_bandwidth, {any(part), any(streams), any(sink)});
    part.dl.data = nullptr;
  };
  std::vector<double> all_reads;
  std::vector<double> all_peaks;
  for (int round = -1; round < rounds; ++round) {
    for (const auto& r : runners) {
      const auto bytes = static_cast<int64_t>(std::min(r->shape().bytes(), 128.0 * (1 << 20))) / 64 * 64;
      Session session;
      read(int64_t{128} << 20, 4);
      session.mark();
      invoke(__tvm_ffi_peak_flops, {any(iterations), any(sink)});
      session.mark();
      read(bytes, 1);
      session.mark();
      read(bytes, 4);
      session.mark();
      r->launch();
      session.mark();
      const bool gathers = r->launch_gather();
      session.mark();
      const std::vector<double> times = session.finish();
      const double peak = flops / times[1] / 1e9;
      const double read_roof = static_cast<double>(bytes) / std::min(times[2], times[3]) / 1e9;
      const double seconds = times[4];
      if (round < 0) continue;
      all_reads.push_back(read_roof);
      all_peaks.push_back(peak);
      r->seconds.push_back(seconds);
      r->of_read.push_back(100 * r->shape().bytes() / seconds / 1e9 / read_roof);
      r->of_peak.push_back(100 * r->shape().flops() / seconds / 1e9 / peak);
      if (gathers) r->gather.push_back(100 * r->shape().bytes() / times[5] / 1e9 / read_roof);
    }
  }
  std::printf("read bandwidth %.1f GB/s (%.1f to %.1f), peak %.1f GFLOP/s; %u lanes, %d rounds\n\n", median(all_reads),
              *std::min_element(all_reads.begin(), all_reads.end()),
              *std::max_element(all_reads.begin(), all_reads.end()), median(all_peaks), musaHostLaneCount(), rounds);
  std::printf("%-28s %9s %8s %8s %7s %7s %7s %7s\n", "case", "ms", "GB/s", "GFLOP/s", "% read", "% FMA", "% roof",
              "gather");
  for (const auto& r : runners) {
    const double s = median(r->seconds);
    const double of_read = median(r->of_read);
    const double of_peak = median(r->of_peak);
    std::printf("%-28s %9.3f %8.1f %8.1f %7.1f %7.1f %7.1f ", r->shape().name.c_str(), s * 1e3,
                r->shape().bytes() / s / 1e9, r->shape().flops() / s / 1e9, of_read, of_peak,
                std::max(of_read, of_peak));
    r->gather.empty() ? std::printf("%7s\n", "-") : std::printf("%7.1f\n", median(r->gather));
  }
  return 0;
}
