// A stand-in for libnvidia-ml with the names, arguments and codes of NVML 12: two devices. Built with NVML_DOUBLE_OLD
// it lacks what older libraries lack.
#include <stdint.h>
#include <stdlib.h>

#include "double.h"

enum {
  SUCCESS = 0,
  UNINITIALIZED = 1,
  INVALID_ARGUMENT = 2,
  NOT_SUPPORTED = 3,
  NOT_FOUND = 6,
  INSUFFICIENT_SIZE = 7,
  DEVICES = 2,
  MAX_LINKS = 18
};

typedef struct device {
  int magic;
  int index;
} device;

enum { MAGIC = 0x4e56 };

static device devices[DEVICES] = {{MAGIC, 0}, {MAGIC, 1}};
static int initialised;

static int check(const char* function, const device* d, const void* out) {
  const int code = failing(function);
  if (code != 0) return code;
  if (!initialised) return UNINITIALIZED;
  if (d == NULL || d->magic != MAGIC) {
    misuse(function, "not a device");
    return INVALID_ARGUMENT;
  }
  if (out == NULL) {
    misuse(function, "no place for the result");
    return INVALID_ARGUMENT;
  }
  return SUCCESS;
}

static int number(const char* function, const device* d, unsigned int value, unsigned int* out) {
  const int code = check(function, d, out);
  if (code == SUCCESS) *out = value;
  return code;
}

static int text(const char* function, const device* d, const char* value, char* out, unsigned int size) {
  const int code = check(function, d, out);
  if (code != SUCCESS) return code;
  return put_text(function, value, out, size) == 0 ? SUCCESS : INSUFFICIENT_SIZE;
}

EXPORT int nvmlInit_v2(void) {
  calls_of_init++;
  const int code = failing("nvmlInit_v2");
  if (code == 0) initialised = 1;
  return code;
}

EXPORT int nvmlShutdown(void) {
  misuse("nvmlShutdown", "the library stays initialised for the life of the process");
  return SUCCESS;
}

EXPORT const char* nvmlErrorString(int code) {
  switch (code) {
    case 9:
      return "Driver Not Loaded";
    case NOT_SUPPORTED:
      return "Not Supported";
    default:
      return "Unknown Error";
  }
}

EXPORT int nvmlSystemGetDriverVersion(char* version, unsigned int size) {
  return text("nvmlSystemGetDriverVersion", &devices[0], "580.95.05", version, size);
}

EXPORT int nvmlSystemGetNVMLVersion(char* version, unsigned int size) {
  return text("nvmlSystemGetNVMLVersion", &devices[0], "13.580.95.05", version, size);
}

EXPORT int nvmlSystemGetProcessName(unsigned int pid, char* name, unsigned int size) {
  if (pid == 4242) return text("nvmlSystemGetProcessName", &devices[0], "python3", name, size);
  return NOT_FOUND;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned int* count) {
  return number("nvmlDeviceGetCount_v2", &devices[0], DEVICES, count);
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned int index, device** out) {
  const int code = check("nvmlDeviceGetHandleByIndex_v2", &devices[0], out);
  if (code != SUCCESS) return code;
  if (index >= DEVICES) return INVALID_ARGUMENT;
  *out = &devices[index];
  return SUCCESS;
}

static const char* const bus_ids[DEVICES] = {"00000000:17:00.0", "00000000:65:00.0"};

EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, device** out) {
  const int code = check("nvmlDeviceGetHandleByPciBusId_v2", &devices[0], out);
  if (code != SUCCESS) return code;
  unsigned int domain, bus, dev;
  if (bus_id == NULL || sscanf(bus_id, "%x:%x:%x", &domain, &bus, &dev) != 3) return INVALID_ARGUMENT;
  for (int i = 0; i < DEVICES; ++i) {
    unsigned int d, b, v;
    sscanf(bus_ids[i], "%x:%x:%x", &d, &b, &v);
    if (d == domain && b == bus && v == dev) {
      *out = &devices[i];
      return SUCCESS;
    }
  }
  return NOT_FOUND;
}

EXPORT int nvmlDeviceGetName(const device* d, char* name, unsigned int size) {
  return text("nvmlDeviceGetName", d, "NVIDIA H100 80GB HBM3", name, size);
}

EXPORT int nvmlDeviceGetUUID(const device* d, char* uuid, unsigned int size) {
  const int second = d != NULL && d->magic == MAGIC && d->index == 1;
  return text("nvmlDeviceGetUUID", d, second ? "GPU-0000000b" : "GPU-0000000a", uuid, size);
}

EXPORT int nvmlDeviceGetVbiosVersion(const device* d, char* version, unsigned int size) {
  return text("nvmlDeviceGetVbiosVersion", d, "96.00.89.00.01", version, size);
}

typedef struct pci_info {
  char bus_id_legacy[16];
  unsigned int domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
} pci_info;

EXPORT int nvmlDeviceGetPciInfo_v3(const device* d, pci_info* info) {
  const int code = check("nvmlDeviceGetPciInfo_v3", d, info);
  if (code != SUCCESS) return code;
  memset(info, 0, sizeof(*info));
  snprintf(info->bus_id, sizeof(info->bus_id), "%s", bus_ids[d->index]);
  return SUCCESS;
}

// Clocks: 0 graphics, 1 SM, 2 memory.
static int clock_of(const char* function, const device* d, unsigned int type, unsigned int sm, unsigned int memory,
                    unsigned int* mhz) {
  if (type != 1 && type != 2) {
    misuse(function, "neither the SM's clock nor the memory's");
    return INVALID_ARGUMENT;
  }
  return number(function, d, type == 1 ? sm : memory, mhz);
}

EXPORT int nvmlDeviceGetClockInfo(const device* d, unsigned int type, unsigned int* mhz) {
  return clock_of("nvmlDeviceGetClockInfo", d, type, 1755, 2619, mhz);
}

EXPORT int nvmlDeviceGetMaxClockInfo(const device* d, unsigned int type, unsigned int* mhz) {
  return clock_of("nvmlDeviceGetMaxClockInfo", d, type, 1980, 2619, mhz);
}

EXPORT int nvmlDeviceGetTemperature(const device* d, unsigned int sensor, unsigned int* celsius) {
  if (sensor != 0) {
    misuse("nvmlDeviceGetTemperature", "no such sensor");
    return INVALID_ARGUMENT;
  }
  return number("nvmlDeviceGetTemperature", d, 57, celsius);
}

EXPORT int nvmlDeviceGetPowerUsage(const device* d, unsigned int* milliwatts) {
  return number("nvmlDeviceGetPowerUsage", d, 402750, milliwatts);
}

EXPORT int nvmlDeviceGetEnforcedPowerLimit(const device* d, unsigned int* milliwatts) {
  return number("nvmlDeviceGetEnforcedPowerLimit", d, 700000, milliwatts);
}

typedef struct memory {
  uint64_t total, free, used;
} memory;

EXPORT int nvmlDeviceGetMemoryInfo(const device* d, memory* out) {
  const int code = check("nvmlDeviceGetMemoryInfo", d, out);
  if (code != SUCCESS) return code;
  out->total = 81559ull << 20;
  out->used = 1024ull << 20;
  out->free = out->total - out->used;
  return SUCCESS;
}

// Types: 0 corrected, 1 uncorrected. Counters: 0 since the driver was loaded, 1 for the device's life.
EXPORT int nvmlDeviceGetTotalEccErrors(const device* d, unsigned int type, unsigned int counter, uint64_t* out) {
  if (type > 1 || counter > 1) {
    misuse("nvmlDeviceGetTotalEccErrors", "no such counter");
    return INVALID_ARGUMENT;
  }
  const int code = check("nvmlDeviceGetTotalEccErrors", d, out);
  if (code == SUCCESS) *out = type == 1 && counter == 0 ? 1 : 5;
  return code;
}

EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(const device* d, uint64_t* out) {
  const int code = check("nvmlDeviceGetCurrentClocksThrottleReasons", d, out);
  if (code == SUCCESS) *out = 0x1 | 0x4 | 0x40;  // idle, power cap, hardware thermal slowdown
  return code;
}

// The second form of the structure; the first has neither of the last two members.
typedef struct process {
  unsigned int pid;
  unsigned long long used;
  unsigned int gpu_instance, compute_instance;
} process;

static int processes(const char* function, const device* d, unsigned int* count, void* out, size_t stride) {
  const int code = check(function, d, count);
  if (code != SUCCESS) return code;
  const unsigned int room = *count;
  *count = 2;
  if (room < 2 || out == NULL) return INSUFFICIENT_SIZE;
  static const process all[2] = {{4242, 8ull << 30, ~0u, ~0u}, {4343, ~0ull, ~0u, ~0u}};
  for (int i = 0; i < 2; ++i) memcpy((char*)out + i * stride, &all[i], stride);
  return SUCCESS;
}

EXPORT int nvmlDeviceGetComputeRunningProcesses(const device* d, unsigned int* count, void* out) {
  return processes("nvmlDeviceGetComputeRunningProcesses", d, count, out, 16);
}

#ifndef NVML_DOUBLE_OLD
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(const device* d, unsigned int* count, process* out) {
  return processes("nvmlDeviceGetComputeRunningProcesses_v3", d, count, out, sizeof(process));
}

EXPORT int nvmlDeviceGetNvLinkState(const device* d, unsigned int link, unsigned int* active) {
  if (link >= MAX_LINKS) return INVALID_ARGUMENT;
  if (link >= 4) return NOT_SUPPORTED;
  return number("nvmlDeviceGetNvLinkState", d, link == 3 ? 0 : 1, active);
}
#endif
