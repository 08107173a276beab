// support.h for this library's own sources: its functions are what the library exports.
#pragma once

#pragma GCC visibility push(default)
#include "support.h"
#pragma GCC visibility pop
