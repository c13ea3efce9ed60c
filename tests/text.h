// tests/text.h - expectations of texts and of the messages of errors.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "harness/core/error.h"

namespace apo {

inline void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << "wanted: " << part << "\ngot:    " << text;
}

// What a mistake is told and its hint, "WHAT | HINT"; "" where the operation ends well.
template <class Error = UserError, class Operation>
std::string error_of(Operation operation) {
  try {
    operation();
  } catch (const Error& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "";
}

}  // namespace apo
