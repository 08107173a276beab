#include "runtime/faults.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace musabench {
namespace {

bool parse_number(const std::string& text, uint64_t& value) {
  if (text.empty() || text.size() > 18) return false;
  value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    value = value * 10 + static_cast<uint64_t>(c - '0');
  }
  return true;
}

// Whether this library exports a function of that name: a misspelt one would be a fault that never happens.
bool exported(const std::string& name) {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&musaGetDeviceCount), &self) == 0) return true;
  void* library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return true;
  const bool found = dlsym(library, name.c_str()) != nullptr;
  dlclose(library);
  return found;
}

// One "function:n=code" or "kernel:name:n=action"; n may end with '+'.
bool parse_fault(std::string text, Fault& fault) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return false;
  const std::string action = text.substr(equals + 1);
  text.resize(equals);
  if (text.rfind("kernel:", 0) == 0) {
    fault.kernel = true;
    text.erase(0, std::strlen("kernel:"));
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  fault.name = text.substr(0, colon);
  std::string count = text.substr(colon + 1);
  if (!count.empty() && count.back() == '+') {
    fault.repeat = true;
    count.pop_back();
  }
  if (!parse_number(count, fault.first) || fault.first == 0) return false;
  if (!fault.kernel && (fault.name.rfind("musa", 0) != 0 || !exported(fault.name))) return false;

  uint64_t code = 0;
  const size_t at = fault.name.rfind('@');
  if (fault.kernel && at != std::string::npos) {
    if (at == 0 || !parse_number(fault.name.substr(at + 1), code) || code > 63) return false;
    fault.device = static_cast<int>(code);
    fault.name.resize(at);
  }
  if (parse_number(action, code) && code > 0 && code < 1000) {
    fault.action = FaultAction::kError;
    fault.error = static_cast<musaError_t>(code);
    return true;
  }
  if (!fault.kernel) return false;
  if (action == "hang") fault.action = FaultAction::kHang;
  if (action == "wrong") fault.action = FaultAction::kWrong;
  if (action == "crash") fault.action = FaultAction::kCrash;
  if (action.rfind("slow", 0) == 0 && parse_number(action.substr(std::strlen("slow")), code) && code > 0 &&
      code <= 10000) {
    fault.action = FaultAction::kSlow;
    fault.percent = static_cast<uint32_t>(code);
  }
  return fault.action != FaultAction::kNone;
}

}  // namespace

std::string parse_faults(const std::string& text, std::vector<Fault>& faults) {
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(';', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty()) continue;
    Fault fault;
    if (!parse_fault(part, fault)) {
      return "'" + part +
             "' is neither musaFunction:n=error nor kernel:name[@device]:n=error|hang|wrong|crash|slow<percent>";
    }
    faults.push_back(fault);
  }
  return "";
}

struct FaultInjector::Counter {
  Fault fault;
  std::atomic<uint64_t> seen{0};
};

FaultInjector::FaultInjector(std::vector<Fault> faults) : active_(!faults.empty()) {
  for (Fault& fault : faults) {
    counters_.push_back(std::make_unique<Counter>());
    counters_.back()->fault = std::move(fault);
  }
}

FaultInjector::~FaultInjector() = default;

const Fault* FaultInjector::next(bool kernel, const char* name, int device) {
  const Fault* hit = nullptr;
  for (const auto& counter : counters_) {
    const Fault& fault = counter->fault;
    if (fault.kernel != kernel || (fault.name != name && !(kernel && fault.name == "*"))) continue;
    if (fault.device >= 0 && fault.device != device) continue;
    const uint64_t seen = counter->seen.fetch_add(1, std::memory_order_relaxed) + 1;
    if (hit == nullptr && (seen == fault.first || (fault.repeat && seen > fault.first))) hit = &fault;
  }
  return hit;
}

musaError_t FaultInjector::on_call(const char* name) {
  const Fault* fault = next(false, name, -1);
  return fault == nullptr ? musaSuccess : fault->error;
}

Fault FaultInjector::on_kernel(const char* name, int device) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    kernels_.insert(name);
  }
  const Fault* fault = next(true, name, device);
  return fault == nullptr ? Fault() : *fault;
}

void FaultInjector::report_unknown_kernels() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (kernels_.empty()) return;
  std::string ran;
  for (const std::string& kernel : kernels_) ran += (ran.empty() ? "" : ", ") + kernel;
  for (const auto& counter : counters_) {
    if (!counter->fault.kernel || counter->seen.load(std::memory_order_relaxed) > 0) continue;
    if (kernels_.count(counter->fault.name) > 0) continue;  // it ran, on another device
    std::fprintf(stderr, "musart_host: MUSART_HOST_FAULTS names kernel '%s', which never ran; these did: %s\n",
                 counter->fault.name.c_str(), ran.c_str());
  }
}

}  // namespace musabench
