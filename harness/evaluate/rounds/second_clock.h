// harness/evaluate/rounds/second_clock.h - checks that CUPTI Activity and the events of a GPU agree on timed calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/core/records/records.h"
#include "harness/evaluate/rounds/session.h"

namespace apo {

// The second clock over all rounds of one comparison.
class SecondClock {
 public:
  // Starting CUPTI takes a quarter of a second in each process, so only some rounds do, and no worker can foresee
  // which.
  bool is_due(std::uint64_t round_seed, std::size_t which) const;
  // Runs one more block on target cuda, which CUPTI Activity records and no verdict uses. Adds each arm's time to the
  // workload's checks.
  Result<Done> check(RoundSession& session, std::size_t which, int block, RoundWorkload& workload, Round& round,
                     std::uint64_t order_seed);
  // Describes the second clock of a GPU in the rounds so far.
  std::string in_words() const;

 private:
  int recorded_samples_ = 0;
  std::string no_second_clock_;  // why; later rounds do not try again
};

}  // namespace apo
