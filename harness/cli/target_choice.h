// harness/cli/target_choice.h - chooses the target of a campaign, and its policy, as commands ask for them.
#pragma once

#include <optional>
#include <string>

#include "harness/core/observer.h"
#include "harness/loop/policy.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

// The target that the word of --target names; nullopt for auto. Throws UserError for another word.
std::optional<Target> asked_target(const std::string& word);

// The same, where auto takes a GPU when one is usable.
Target resolve_target(const std::string& word, Workspace& workspace);

// Makes the workspace use the target, and writes it into the policy. `word` is host, cuda or auto: auto takes the
// target of the baseline; without one the GPU when it is usable and the family has variants for it. Where the workloads
// were not given it then takes the first that makes sense there. UserError for a baseline of another target.
void choose_target(const std::string& word, bool workloads_given, Workspace& workspace, Policy& policy,
                   Observer& observer);

// The policy with these options, completed; an empty workload leaves the policy's. Throws UserError.
Policy asked_policy(Policy policy, const std::string& workload, const std::string& baseline, const std::string& cache);

}  // namespace apo
