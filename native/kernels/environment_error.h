// What a launch function throws when the process's environment, or a shape, asks for what its device cannot do.
#pragma once

#include <stdexcept>
#include <string>

namespace musabench {

// Leaves the export as a RuntimeError "<kernel>: <text>". The text names what was asked for, and what there is.
class EnvironmentError : public std::runtime_error {
 public:
  explicit EnvironmentError(const std::string& text) : std::runtime_error(text) {}
};

}  // namespace musabench
