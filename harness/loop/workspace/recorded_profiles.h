// harness/loop/workspace/recorded_profiles.h - profiles of a journal, read without the machine on which they were
// taken.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/loop/workspace/workspace.h"
#include "harness/worker/protocol/protocol.h"

namespace apo {

// Puts the journal's newest text of each variant into the catalogue, in place of another one of its name.
void use_recorded_texts(Workspace& workspace);

// Returns the newest profiles of the configurations that were taken on one machine and workload ("": any) with the
// caches in that state, and makes the workspace that machine, and its catalogue have the profiled texts. Throws
// UserError that tells what the journal has.
std::vector<Profile> recorded_profiles(Workspace& workspace, const std::vector<Configuration>& configurations,
                                       const std::string& workload, CachePolicy cache, Observer& observer);

// Makes the workspace the machine of the family's newest campaign, on that target where one is given, and returns the
// campaign's policy. Throws UserError where the journal has none.
Policy use_recorded_campaign(Workspace& workspace, const std::string& family, std::optional<Target> target);

}  // namespace apo
