#include "runtime/settings.h"

#include <sched.h>

#include <cstdlib>
#include <thread>

namespace musabench {
namespace {

// Reads variable `name` as an integer in [low, high] into `value`; unset or empty leaves it alone.
void read_int(const char* name, int low, int high, int& value, std::string& error) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return;
  char* end = nullptr;
  const long parsed = std::strtol(text, &end, 10);
  if (*end != '\0' || parsed < low || parsed > high) {
    if (error.empty()) {
      error = std::string(name) + "='" + text + "': wanted an integer from " + std::to_string(low) + " to " +
              std::to_string(high);
    }
    return;
  }
  value = static_cast<int>(parsed);
}

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
  }
  return cpus;
}

}  // namespace

Settings read_settings() {
  Settings settings;
  settings.cpus = allowed_cpus();
  settings.lanes = static_cast<int>(settings.cpus.size());
  // More CPUs than cpu_set_t holds: run unpinned.
  if (settings.lanes == 0) settings.lanes = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  int pin = 1;
  int report = 0;
  read_int("MUSART_HOST_DEVICES", 1, 64, settings.devices, settings.error);
  read_int("MUSART_HOST_THREADS", 1, 1024, settings.lanes, settings.error);
  read_int("MUSART_HOST_PIN", 0, 1, pin, settings.error);
  read_int("MUSART_HOST_QUEUE", 0, 1'000'000, settings.queue, settings.error);
  read_int("MUSART_HOST_REPORT", 0, 1, report, settings.error);
  settings.pin = pin != 0;
  settings.report = report != 0;
  const char* faults = std::getenv("MUSART_HOST_FAULTS");
  if (faults != nullptr) {
    std::string error = parse_faults(faults, settings.faults);
    if (!error.empty() && settings.error.empty()) settings.error = "MUSART_HOST_FAULTS: " + error;
  }
  return settings;
}

}  // namespace musabench
