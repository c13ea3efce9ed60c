// harness/evaluate/rounds/second_clock.h - checks that CUPTI Activity and the events of a GPU agree on timed calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/core/records/records.h"
#include "harness/evaluate/rounds/session.h"

namespace apo {

// Of all rounds of one comparison.
class SecondClock {
 public:
  // Starting CUPTI takes a quarter of a second in each process. Which rounds pay for it no worker can foresee.
  bool is_due(std::uint64_t round_seed, std::size_t which) const;
  // Target cuda: one more block, which CUPTI Activity records and no verdict rests on. Adds each arm's time to the
  // workload's checks.
  Result<Done> check(RoundSession& session, std::size_t which, int block, RoundWorkload& workload, Round& round,
                     std::uint64_t order_seed);
  // What it said in the rounds so far, in words; of a GPU.
  std::string in_words() const;

 private:
  int recorded_samples_ = 0;
  std::string no_second_clock_;  // why; later rounds do not try again
};

}  // namespace apo
