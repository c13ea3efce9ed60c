// harness/loop/export/refusal.h - what a campaign accepted and its application refused afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "harness/core/records/records.h"
#include "journal/facts/incumbents.h"

namespace apo {

// The application of the campaign that accepted a configuration judged the campaign's incumbent, and refused it.
struct Refusal {
  std::int64_t comparison = 0;
  std::int64_t campaign = 0;
  Reason reason = Reason::interrupted;
};

// Refusals by campaign. The newest verdict of a campaign counts.
using Refusals = std::map<std::int64_t, Refusal>;
Refusals refusals_in(Journal& journal);

// Returns the refusal of the campaign that accepted the configuration, where there is one.
std::optional<Refusal> refusal_of(Journal& journal, const Refusals& refusals, const Incumbent& incumbent);

// Returns the last incumbent that a campaign before that of `refused` accepted and that was not refused either; nullopt
// where there is none.
std::optional<Incumbent> incumbent_before(Journal& journal, const Refusals& refusals, const Incumbent& refused);

// Returns the configuration, or the baseline that the refused campaigns which led to it began with.
Configuration before_refusals(Journal& journal, const Incumbent& incumbent);

}  // namespace apo
