// journal/facts/profiles.h - writes and reads profiles and the roofs that they are held against.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/profile.h"
#include "harness/core/records/variant.h"

namespace apo {

class Journal;

// The owners of a profile; 0 and "" where there is none.
struct ProfileContext {
  std::string machine;  // Machine::id
  std::int64_t iteration = 0;
  std::int64_t experiment = 0;
  std::string source_hash;  // of the profiled variant, when it is registered
};

// A stored profile without its numbers.
struct ProfileRow {
  std::int64_t id = 0;
  Configuration configuration;
  std::string machine;  // Machine::id
  std::string source_hash;
  std::string workload;
  std::string conditions;  // Profile::conditions; "" of a journal of schema 2 or older, or without counters
  std::string at;
};

std::int64_t add_profile(Journal& journal, const Profile& profile, const ProfileContext& context);
std::vector<Profile> profiles_of_iteration(Journal& journal, std::int64_t iteration);
// The newest of this very source on that machine (of `context` these two count), campaign or not.
std::optional<Profile> newest_profile(Journal& journal, const Configuration& configuration, const std::string& workload,
                                      const ProfileContext& context);
std::vector<ProfileRow> profile_rows(Journal& journal, const std::string& variant);  // of any text, the newest first
Profile load_profile(Journal& journal, std::int64_t id);  // throws UserError for an unknown one

void add_roofs(Journal& journal, const std::string& machine, const std::vector<Roof>& roofs);
// The newest of each name, by name; only those measured under `driver`, unless it is empty.
std::vector<Roof> roofs_of(Journal& journal, const std::string& machine, const std::string& driver = "");

}  // namespace apo
