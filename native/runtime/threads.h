// Threads of the runtime: named, pinned, deaf to signals, and never joined, because a process must be able to
// end while a kernel still runs.
#pragma once

#include <functional>
#include <string>

namespace musabench {

// Starts a detached thread. `cpu` < 0: not pinned. Throws std::system_error when there can be no more threads.
void start_thread(const std::string& name, int cpu, std::function<void()> body);

// The device that the calling thread works for or has chosen by musaSetDevice.
int& current_device();

// Whether the calling thread is one of the runtime's own: there, calls into the runtime are not permitted.
bool is_runtime_thread();

}  // namespace musabench
