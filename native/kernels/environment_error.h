// What a launch function throws when the process's environment asks for something that its device cannot do.
#pragma once

#include <stdexcept>
#include <string>

namespace musabench {

// Leaves the export as a RuntimeError "<kernel>: <text>". The text names the variable, its value and what is allowed.
class EnvironmentError : public std::runtime_error {
 public:
  explicit EnvironmentError(const std::string& text) : std::runtime_error(text) {}
};

}  // namespace musabench
