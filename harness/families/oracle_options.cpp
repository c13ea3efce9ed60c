// harness/families/oracle_options.cpp - the sentence about a reference that has been running for long.
#include "harness/families/oracle_options.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>

#include "harness/core/text.h"

namespace apo {

Overdue long_wait(const OracleOptions& options, const std::string& what) {
  const auto patience = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * options.patience_s));
  return Overdue(patience, [options, what] {
    if (options.on_wait != nullptr) {
      options.on_wait(fmt::format("waiting for {}: it has been running for {} and is ended after {}", what,
                                  format_seconds(options.patience_s), format_seconds(options.timeout_s)));
    }
  });
}

}  // namespace apo
