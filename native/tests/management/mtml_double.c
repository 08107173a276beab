// A stand-in for libmtml with the names, arguments and codes of its 2.2 interface: two devices of a node. Handles are
// checked, so that a device's handle given where a GPU's belongs is found. Built with MTML_DOUBLE_OLD it lacks what
// older libraries lack.
#include <stdint.h>
#include <stdlib.h>

#include "double.h"

enum {
  SUCCESS = 0,
  DRIVER_NOT_LOADED = 1,
  INVALID_ARGUMENT = 3,
  NOT_SUPPORTED = 4,
  INSUFFICIENT_SIZE = 6,
  NOT_FOUND = 7,
  DEVICES = 2,
  LINKS = 3
};

// A handle is the address of one of these; its kind is what the functions check.
typedef struct handle {
  int kind;
  int device;
  int open;
} handle;

enum { LIBRARY = 0x4c49, SYSTEM = 0x5359, DEVICE = 0x4445, GPU = 0x4750, MEMORY = 0x4d45 };

static handle library = {LIBRARY, 0, 0};
static handle the_system = {SYSTEM, 0, 0};
static handle devices[DEVICES] = {{DEVICE, 0, 0}, {DEVICE, 1, 0}};
static handle gpus[DEVICES] = {{GPU, 0, 0}, {GPU, 1, 0}};
static handle memories[DEVICES] = {{MEMORY, 0, 0}, {MEMORY, 1, 0}};

static int check(const char* function, const handle* h, int kind, const void* out) {
  const int code = failing(function);
  if (code != 0) return code;
  if (h == NULL || h->kind != kind || !h->open) {
    misuse(function, "not an open handle of the right kind");
    return INVALID_ARGUMENT;
  }
  if (out == NULL) {
    misuse(function, "no place for the result");
    return INVALID_ARGUMENT;
  }
  return SUCCESS;
}

static int text(const char* function, const handle* h, int kind, const char* value, char* out, unsigned int size) {
  const int code = check(function, h, kind, out);
  if (code != SUCCESS) return code;
  return put_text(function, value, out, size) == 0 ? SUCCESS : INSUFFICIENT_SIZE;
}

static int number(const char* function, const handle* h, int kind, unsigned int value, unsigned int* out) {
  const int code = check(function, h, kind, out);
  if (code == SUCCESS) *out = value;
  return code;
}

static int open_handle(const char* function, const handle* parent, int kind, handle* child, handle** out) {
  const int code = check(function, parent, kind, out);
  if (code != SUCCESS) return code;
  child->open++;
  *out = child;
  return SUCCESS;
}

static int free_handle(const char* function, handle* h, int kind) {
  const int code = check(function, h, kind, h);
  if (code == SUCCESS) h->open--;
  return code;
}

EXPORT int mtmlLibraryInit(handle** lib) {
  calls_of_init++;
  const int code = failing("mtmlLibraryInit");
  if (code != 0) return code;
  if (lib == NULL) {
    misuse("mtmlLibraryInit", "no place for the result");
    return INVALID_ARGUMENT;
  }
  library.open = 1;
  *lib = &library;
  return SUCCESS;
}

EXPORT int mtmlLibraryShutDown(handle* lib) {
  misuse("mtmlLibraryShutDown", "a second initialisation after it is broken in real libraries");
  return free_handle("mtmlLibraryShutDown", lib, LIBRARY);
}

EXPORT int mtmlLibraryGetVersion(const handle* lib, char* version, unsigned int size) {
  return text("mtmlLibraryGetVersion", lib, LIBRARY, "2.2.0", version, size);
}

EXPORT int mtmlLibraryInitSystem(const handle* lib, handle** out) {
  return open_handle("mtmlLibraryInitSystem", lib, LIBRARY, &the_system, out);
}

EXPORT int mtmlLibraryFreeSystem(handle* h) { return free_handle("mtmlLibraryFreeSystem", h, SYSTEM); }

EXPORT int mtmlSystemGetDriverVersion(const handle* h, char* version, unsigned int size) {
  return text("mtmlSystemGetDriverVersion", h, SYSTEM, "3.3.5-server", version, size);
}

EXPORT int mtmlLibraryCountDevice(const handle* lib, unsigned int* count) {
  return number("mtmlLibraryCountDevice", lib, LIBRARY, DEVICES, count);
}

EXPORT int mtmlLibraryInitDeviceByIndex(const handle* lib, unsigned int index, handle** out) {
  if (index >= DEVICES) return NOT_FOUND;
  return open_handle("mtmlLibraryInitDeviceByIndex", lib, LIBRARY, &devices[index], out);
}

static const char* const bus_ids[DEVICES] = {"00000000:3B:00.0", "00000000:AF:00.0"};

EXPORT int mtmlLibraryInitDeviceByPciSbdf(const handle* lib, const char* sbdf, handle** out) {
  if (sbdf == NULL) {
    misuse("mtmlLibraryInitDeviceByPciSbdf", "no address");
    return INVALID_ARGUMENT;
  }
  for (int i = 0; i < DEVICES; ++i) {
    if (strcmp(sbdf, bus_ids[i]) == 0) {
      return open_handle("mtmlLibraryInitDeviceByPciSbdf", lib, LIBRARY, &devices[i], out);
    }
  }
  return NOT_FOUND;
}

EXPORT int mtmlLibraryFreeDevice(handle* h) { return free_handle("mtmlLibraryFreeDevice", h, DEVICE); }

EXPORT int mtmlDeviceGetName(const handle* h, char* name, unsigned int size) {
  return text("mtmlDeviceGetName", h, DEVICE, "MTT S5000", name, size);
}

EXPORT int mtmlDeviceGetUUID(const handle* h, char* uuid, unsigned int size) {
  const int second = h != NULL && h->kind == DEVICE && h->device == 1;
  return text("mtmlDeviceGetUUID", h, DEVICE,
              second ? "2c1e6a52-0000-4b0c-9d5e-00000000000b" : "2c1e6a52-0000-4b0c-9d5e-00000000000a", uuid, size);
}

EXPORT int mtmlDeviceGetMtBiosVersion(const handle* h, char* version, unsigned int size) {
  return text("mtmlDeviceGetMtBiosVersion", h, DEVICE, "3.4.3", version, size);
}

typedef struct pci_info {
  char sbdf[32];
  unsigned int segment, bus, device, device_id, subsystem_id, bus_width;
  float max_speed, speed;
  unsigned int max_width, width, max_generation, generation;
  int reserved[6];
} pci_info;

EXPORT int mtmlDeviceGetPciInfo(const handle* h, pci_info* info) {
  const int code = check("mtmlDeviceGetPciInfo", h, DEVICE, info);
  if (code != SUCCESS) return code;
  memset(info, 0, sizeof(*info));
  snprintf(info->sbdf, sizeof(info->sbdf), "%s", bus_ids[h->device]);
  return SUCCESS;
}

EXPORT int mtmlDeviceGetPowerUsage(const handle* h, unsigned int* milliwatts) {
  return number("mtmlDeviceGetPowerUsage", h, DEVICE, 312500, milliwatts);
}

EXPORT int mtmlDeviceInitGpu(const handle* h, handle** out) {
  return open_handle("mtmlDeviceInitGpu", h, DEVICE, &gpus[h == NULL ? 0 : h->device], out);
}

EXPORT int mtmlDeviceFreeGpu(handle* h) { return free_handle("mtmlDeviceFreeGpu", h, GPU); }

EXPORT int mtmlGpuGetTemperature(const handle* h, int* celsius) {
  return number("mtmlGpuGetTemperature", h, GPU, 61, (unsigned int*)celsius);
}

EXPORT int mtmlGpuGetClock(const handle* h, unsigned int* mhz) { return number("mtmlGpuGetClock", h, GPU, 1450, mhz); }

EXPORT int mtmlGpuGetMaxClock(const handle* h, unsigned int* mhz) {
  return number("mtmlGpuGetMaxClock", h, GPU, 1500, mhz);
}

EXPORT int mtmlDeviceInitMemory(const handle* h, handle** out) {
  return open_handle("mtmlDeviceInitMemory", h, DEVICE, &memories[h == NULL ? 0 : h->device], out);
}

EXPORT int mtmlDeviceFreeMemory(handle* h) { return free_handle("mtmlDeviceFreeMemory", h, MEMORY); }

static int bytes(const char* function, const handle* h, uint64_t value, uint64_t* out) {
  const int code = check(function, h, MEMORY, out);
  if (code == SUCCESS) *out = value;
  return code;
}

EXPORT int mtmlMemoryGetTotal(const handle* h, uint64_t* out) {
  return bytes("mtmlMemoryGetTotal", h, 81920ull << 20, out);
}

EXPORT int mtmlMemoryGetUsed(const handle* h, uint64_t* out) {
  return bytes("mtmlMemoryGetUsed", h, 604ull << 20, out);
}

EXPORT int mtmlMemoryGetClock(const handle* h, unsigned int* mhz) {
  return number("mtmlMemoryGetClock", h, MEMORY, 10000, mhz);
}

#ifndef MTML_DOUBLE_OLD
// 0 is what a library says that knows of no limit: the second device's.
EXPORT int mtmlGpuGetEnforcedPowerLimit(const handle* h, int* milliwatts) {
  const unsigned int limit = h != NULL && h->device == 1 ? 0 : 450000;
  return number("mtmlGpuGetEnforcedPowerLimit", h, GPU, limit, (unsigned int*)milliwatts);
}

// Types: 0 corrected, 1 uncorrected. Counters: 0 since the driver was loaded, 1 for the device's life. Places: 1 DRAM.
EXPORT int mtmlMemoryGetEccErrorCounter(const handle* h, unsigned int type, unsigned int counter, unsigned int place,
                                        uint64_t* out) {
  if (type > 1 || counter > 1 || place != 1) {
    misuse("mtmlMemoryGetEccErrorCounter", "no such counter");
    return INVALID_ARGUMENT;
  }
  return bytes("mtmlMemoryGetEccErrorCounter", h, type == 1 && counter == 0 ? 2 : 7, out);
}

typedef struct link_spec {
  unsigned int version, gigabytes_per_second, links, reserved[4];
} link_spec;

EXPORT int mtmlDeviceGetMtLinkSpec(const handle* h, link_spec* out) {
  const int code = check("mtmlDeviceGetMtLinkSpec", h, DEVICE, out);
  if (code != SUCCESS) return code;
  memset(out, 0, sizeof(*out));
  out->version = 10203;
  out->gigabytes_per_second = 112;
  out->links = LINKS;
  return SUCCESS;
}

// States: 0 down, 1 up, 2 downgraded.
EXPORT int mtmlDeviceGetMtLinkState(const handle* h, unsigned int link, unsigned int* state) {
  if (link >= LINKS) {
    misuse("mtmlDeviceGetMtLinkState", "no such link");
    return INVALID_ARGUMENT;
  }
  static const unsigned int states[LINKS] = {1, 2, 0};
  return number("mtmlDeviceGetMtLinkState", h, DEVICE, states[link], state);
}
#endif
