// Error codes, their names and texts, and the last error of each thread.
#pragma once

#include "abi/musa_runtime.h"

namespace musabench {

const char* error_name(musaError_t error);
const char* error_text(musaError_t error);

// Errors after which nothing more runs on the device until it is reset.
bool is_sticky(musaError_t error);

// The calling thread's last error that was not musaSuccess.
musaError_t& last_error();

}  // namespace musabench
