// libmusabench_signal_test.so: installs a handler of SIGSEGV when it is loaded, as releases of libtvm_ffi do, which
// ends the process where the JVM's own would have gone on. For tests of whoever loads libraries into a JVM.
#include <unistd.h>

#include <csignal>

namespace {

void end_process(int) { _exit(86); }

__attribute__((constructor)) void install() { std::signal(SIGSEGV, &end_process); }

}  // namespace
