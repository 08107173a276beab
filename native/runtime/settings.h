// What the environment asks of the host device. Read once, at the first call.
#pragma once

#include <string>
#include <vector>

#include "runtime/faults.h"

namespace musabench {

struct Settings {
  int devices = 1;            // MUSART_HOST_DEVICES, 1..64
  int lanes = 1;              // MUSART_HOST_THREADS, 1..1024; default: the CPUs this process may use
  bool pin = true;            // MUSART_HOST_PIN
  bool report = false;        // MUSART_HOST_REPORT
  int queue = 0;              // MUSART_HOST_QUEUE, 0 (no limit) .. 1,000,000
  std::vector<int> cpus;      // those this process may use, ascending
  std::vector<Fault> faults;  // MUSART_HOST_FAULTS
  std::string error;          // what is wrong with the environment; empty: nothing
};

Settings read_settings();

}  // namespace musabench
