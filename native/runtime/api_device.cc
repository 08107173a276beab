// Devices, versions and errors.
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "abi/musart_host.h"
#include "runtime/runtime.h"

namespace musabench {
namespace {

// major * 10000 + minor * 100 + patch of this library, as the real runtime encodes its own.
constexpr int kVersion = 10000;

// The first value of `key` in /proc/cpuinfo; empty when the kernel does not tell.
std::string cpu_info(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

std::string device_name() {
  std::string name = cpu_info("model name");
  if (!name.empty()) return name;
  utsname system{};
  return uname(&system) == 0 ? std::string(system.machine) + " CPU" : "CPU";
}

std::string cpu_directory(const Settings& settings) {
  return "/sys/devices/system/cpu/cpu" + std::to_string(settings.cpus.empty() ? 0 : settings.cpus.front());
}

// Of the last-level cache that lane 0 sees, in bytes; 0 when unknown.
int last_level_cache(const Settings& settings) {
  int best_level = 0;
  int bytes = 0;
  for (int index = 0;; ++index) {
    const std::string directory = cpu_directory(settings) + "/cache/index" + std::to_string(index);
    int level = 0;
    int kib = 0;
    std::string type;
    if (!(std::ifstream(directory + "/level") >> level)) return bytes;
    std::ifstream(directory + "/type") >> type;
    std::ifstream(directory + "/size") >> kib;
    if (type != "Instruction" && level > best_level) {
      best_level = level;
      bytes = kib << 10;
    }
  }
}

// The highest clock in kHz, or else the present one; 0 when unknown.
int clock_khz(const Settings& settings) {
  int khz = 0;
  if (std::ifstream(cpu_directory(settings) + "/cpufreq/cpuinfo_max_freq") >> khz) return khz;
  const std::string mhz = cpu_info("cpu MHz");
  return mhz.empty() ? 0 : static_cast<int>(std::strtod(mhz.c_str(), nullptr) * 1000);
}

musaError_t attribute(Runtime& rt, int attribute, int* value) {
  switch (attribute) {
    // A block is run by one thread, and a lane runs one block at a time.
    case musaDevAttrMaxThreadsPerBlock:
    case musaDevAttrWarpSize:
    case musaDevAttrMaxThreadsPerMultiProcessor:
    case musaDevAttrMaxBlocksPerMultiprocessor:
      *value = 1;
      return musaSuccess;
    case musaDevAttrMultiProcessorCount:
      *value = rt.this_device().lanes().size();
      return musaSuccess;
    case musaDevAttrL2CacheSize:
      *value = last_level_cache(rt.settings());
      return musaSuccess;
    case musaDevAttrClockRate:
      *value = clock_khz(rt.settings());
      return musaSuccess;
    // What a CPU does not have, or does not tell: 0.
    case musaDevAttrMaxSharedMemoryPerBlock:
    case musaDevAttrMaxRegistersPerBlock:
    case musaDevAttrEccEnabled:
    case musaDevAttrMemoryClockRate:
    case musaDevAttrGlobalMemoryBusWidth:
    case musaDevAttrAsyncEngineCount:
    case musaDevAttrComputeCapabilityMajor:
    case musaDevAttrComputeCapabilityMinor:
    case musaDevAttrMaxSharedMemoryPerMultiprocessor:
    case musaDevAttrMaxRegistersPerMultiprocessor:
    case musaDevAttrCooperativeLaunch:
    case musaDevAttrMaxSharedMemoryPerBlockOptin:
    case musaDevAttrMaxPersistingL2CacheSize:
    case musaDevAttrReservedSharedMemoryPerBlock:
    case musaDevAttrMemoryPoolsSupported:
      *value = 0;
      return musaSuccess;
    case musaDevAttrPciBusId:
    case musaDevAttrPciDeviceId:
    case musaDevAttrPciDomainId:
      return musaErrorNotSupported;
    default:
      return musaErrorInvalidValue;
  }
}

}  // namespace
}  // namespace musabench

using namespace musabench;

musaError_t musaGetDeviceCount(int* count) {
  return api_call("musaGetDeviceCount", [&](Runtime& rt) {
    if (count == nullptr) return musaErrorInvalidValue;
    *count = rt.device_count();
    return musaSuccess;
  });
}

musaError_t musaSetDevice(int device) {
  return api_call("musaSetDevice", [&](Runtime& rt) {
    if (!rt.is_device(device)) return musaErrorInvalidDevice;
    current_device() = device;
    return musaSuccess;
  });
}

musaError_t musaGetDevice(int* device) {
  return api_call("musaGetDevice", [&](Runtime&) {
    if (device == nullptr) return musaErrorInvalidValue;
    *device = current_device();
    return musaSuccess;
  });
}

musaError_t musaDeviceGetAttribute(int* value, int attribute, int device) {
  return api_call("musaDeviceGetAttribute", [&](Runtime& rt) -> musaError_t {
    if (value == nullptr) return musaErrorInvalidValue;
    if (!rt.is_device(device)) return musaErrorInvalidDevice;
    return musabench::attribute(rt, attribute, value);
  });
}

musaError_t musaDeviceGetPCIBusId(char* bus_id, int length, int device) {
  return api_call("musaDeviceGetPCIBusId", [&](Runtime& rt) {
    if (bus_id == nullptr || length <= 0) return musaErrorInvalidValue;
    return rt.is_device(device) ? musaErrorNotSupported : musaErrorInvalidDevice;
  });
}

musaError_t musaGetDeviceProperties(void* properties, int device) {
  return api_call("musaGetDeviceProperties", [&](Runtime& rt) {
    if (properties == nullptr) return musaErrorInvalidValue;
    if (!rt.is_device(device)) return musaErrorInvalidDevice;
    auto* out = static_cast<char*>(properties);
    std::memset(out, 0, musaDevicePropSize);
    const std::string name = device_name();
    std::memcpy(out + musaDevicePropNameOffset, name.data(), std::min<size_t>(name.size(), 255));
    size_t free_bytes = 0;
    size_t total = 0;
    rt.memory().info(&free_bytes, &total);
    std::memcpy(out + musaDevicePropTotalGlobalMemOffset, &total, sizeof(total));
    return musaSuccess;
  });
}

musaError_t musaDeviceSynchronize() {
  return device_call("musaDeviceSynchronize", [](Runtime& rt, Device& device) {
    const musaError_t error = rt.captures().any() ? rt.captures().check_device_sync(device) : musaSuccess;
    return error != musaSuccess ? error : device.synchronize();
  });
}

musaError_t musaDeviceReset() {
  return api_call("musaDeviceReset", [](Runtime& rt) { return rt.reset(rt.this_device()); });
}

musaError_t musaRuntimeGetVersion(int* version) {
  return api_call("musaRuntimeGetVersion", [&](Runtime&) {
    if (version == nullptr) return musaErrorInvalidValue;
    *version = kVersion;
    return musaSuccess;
  });
}

musaError_t musaDriverGetVersion(int* version) {
  return api_call("musaDriverGetVersion", [&](Runtime&) {
    if (version == nullptr) return musaErrorInvalidValue;
    *version = kVersion;
    return musaSuccess;
  });
}

const char* musaGetErrorName(musaError_t error) { return error_name(error); }

const char* musaGetErrorString(musaError_t error) {
  return error == musaErrorInitializationError ? initialization_error_text() : error_text(error);
}

musaError_t musaGetLastError() {
  const musaError_t error = musaPeekAtLastError();
  last_error() = musaSuccess;
  return error;
}

musaError_t musaPeekAtLastError() {
  const musaError_t error = last_error();
  if (error != musaSuccess) return error;
  Runtime& rt = runtime();
  return rt.settings().error.empty() ? rt.this_device().error() : musaErrorInitializationError;
}

uint32_t musaHostLaneCount() {
  Runtime& rt = runtime();
  return rt.settings().error.empty() ? static_cast<uint32_t>(rt.this_device().lanes().size()) : 0;
}
