#include "runtime/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace musabench {
namespace {

thread_local bool runtime_thread = false;

// Signals that other threads of the process, such as a JVM's, expect to get. Faults stay deliverable.
sigset_t asynchronous_signals() {
  sigset_t set;
  sigfillset(&set);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&set, fault);
  return set;
}

}  // namespace

void start_thread(const std::string& name, int cpu, std::function<void()> body) {
  const sigset_t blocked = asynchronous_signals();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto restore = [&] { pthread_sigmask(SIG_SETMASK, &before, nullptr); };
  try {
    std::thread([name, cpu, body = std::move(body)] {
      runtime_thread = true;
      pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
      if (cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(static_cast<size_t>(cpu), &set);
        // The CPU may have been taken away since start: then run wherever the system says.
        pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
      }
      body();
    }).detach();
  } catch (...) {
    restore();
    throw;
  }
  restore();
}

int& current_device() {
  thread_local int device = 0;
  return device;
}

bool is_runtime_thread() { return runtime_thread; }

}  // namespace musabench
