// harness/core/error.h - the errors of the user and of the environment, and APO_CHECK for our own bugs.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace apo {

// The user's mistake (exit code 1): what is wrong and where, then what to do next.
class UserError : public std::runtime_error {
 public:
  explicit UserError(const std::string& what, std::string hint = "")
      : std::runtime_error(what), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

// Inputs on which nothing can be compared: the reference of a family, or its honest version, is no finite number there.
class NothingToCompare : public UserError {
 public:
  using UserError::UserError;
};

// This machine lacks or refuses something (exit code 2).
class EnvironmentError : public std::runtime_error {
 public:
  explicit EnvironmentError(const std::string& what, std::string hint = "")
      : std::runtime_error(what), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

// A device failed or vanished while a candidate ran on it, which says nothing about the candidate.
class DeviceLost : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

// Thrown by work that was asked to stop because its result is no longer needed.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("cancelled") {}
};

// The text of either error with its hint, where it has one.
template <class Error>
std::string with_hint(const Error& error, const std::string& separator = "; ") {
  return error.hint().empty() ? error.what() : error.what() + separator + error.hint();
}

// Our own bug: prints the condition and its place, then aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line, const std::string& detail = "");

}  // namespace apo

#define APO_CHECK(condition) ((condition) ? static_cast<void>(0) : ::apo::check_failed(#condition, __FILE__, __LINE__))
