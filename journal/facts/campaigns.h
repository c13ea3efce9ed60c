// journal/facts/campaigns.h - writes and reads campaigns and their iterations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/campaign.h"
#include "harness/core/records/variant.h"

namespace apo {

class Journal;

// One turn of the loop.
struct IterationRow {
  std::int64_t id = 0;
  std::int64_t campaign = 0;
  int index = 0;  // from 1
  Configuration incumbent;
  std::string started_at;
  std::string ended_at;  // empty while under way
  std::string note;
  bool operator==(const IterationRow&) const = default;
};

// The policy's seed is written at the end, so that nothing can foresee a round.
std::int64_t begin_campaign(Journal& journal, const Campaign& campaign);  // and takes it
// Takes an open campaign to go on with it. Throws UserError naming the process when another one runs it.
void take_campaign(Journal& journal, const Campaign& campaign);
void finish_campaign(Journal& journal, std::int64_t id, std::uint64_t seed, const std::string& note = "");
std::optional<Campaign> find_campaign(Journal& journal, std::int64_t id);
std::vector<Campaign> all_campaigns(Journal& journal);
std::optional<Campaign> find_open_campaign(Journal& journal, const std::string& family,
                                           const std::string& workload_class, const std::string& machine);

std::int64_t begin_iteration(Journal& journal, const IterationRow& iteration);
void finish_iteration(Journal& journal, std::int64_t id, const std::string& note = "");
std::vector<IterationRow> iterations_of(Journal& journal, std::int64_t campaign);

}  // namespace apo
