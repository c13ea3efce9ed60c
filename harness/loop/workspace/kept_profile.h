// harness/loop/workspace/kept_profile.h - finds profiles and roofs in the journal, or measures and keeps them.
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

// Returns the known roofs of the workspace's target, or measures and stores them. A journal that cannot be written
// prevents only the storing.
std::vector<Roof> kept_or_measured_roofs(Workspace& workspace, bool remeasure, Observer& observer);

// Stores the profile with the variant's source, so that it can be found again.
void keep_profile(Workspace& workspace, const Profile& profile, Observer& observer);

// Returns the newest stored profile of this source on this machine under that state of the caches, or measures and
// stores one.
Profile kept_or_measured_profile(Workspace& workspace, const Family& family, const Configuration& configuration,
                                 const Workload& workload, CachePolicy cache, bool remeasure, Observer& observer);

}  // namespace apo
