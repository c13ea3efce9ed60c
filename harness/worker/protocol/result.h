// harness/worker/protocol/result.h - a value, or the candidate's failure with its evidence.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "harness/core/json/fields.h"
#include "harness/core/records/records.h"

namespace apo {

struct Failure {
  Outcome outcome = Outcome::faulted;
  std::string evidence;                    // one sentence, printable
  int slot = -1;                           // which slot's code was running; -1 when none was, or nobody knows
  bool of_device = false;                  // the error names the GPU or its context, whatever ran on it
  std::optional<WrongElement> wrong = {};  // of outputs that this process compared; no worker sends it
  bool operator==(const Failure&) const = default;
};
// What a worker sends: all but the last one.
template <RecordOf<Failure> Whole, class Visitor>
void visit_fields(Whole& failure, const Visitor& visitor) {
  auto& [outcome, evidence, slot, of_device, wrong] = failure;
  visit_members("outcome, evidence, slot, of_device", visitor, outcome, evidence, slot, of_device);
}

// The value of an operation that only succeeds or fails.
struct Done {};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Failure failure) : state_(std::move(failure)) {}
  explicit operator bool() const { return std::holds_alternative<T>(state_); }
  // Each accessor is valid only on its side of the test above.
  const T& value() const { return std::get<T>(state_); }
  T& operator*() { return std::get<T>(state_); }
  const T& operator*() const { return value(); }
  const T* operator->() const { return &value(); }
  const Failure& failure() const { return std::get<Failure>(state_); }
  // What `next` makes of the value, else the failure.
  template <class Next>
  auto then(const Next& next) const -> Result<std::decay_t<std::invoke_result_t<const Next&, const T&>>> {
    if (*this) {
      return std::invoke(next, value());
    }
    return failure();
  }

 private:
  std::variant<T, Failure> state_;
};

}  // namespace apo
