// data/error.h - a mistake of the user: what is wrong, and what to do about it.
#pragma once

#include <stdexcept>
#include <string>

namespace byte_lm {

struct UserError : std::runtime_error {
  explicit UserError(const std::string& what, const std::string& fix = "")
      : std::runtime_error(fix.empty() ? what : what + "\n  " + fix) {}
};

}  // namespace byte_lm
