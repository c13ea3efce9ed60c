// harness/loop/workspace/chosen_workload.h - chooses the workload of a command that was given none.
#pragma once

#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/loop/workspace/workspace.h"
#include "kernels/family.h"

namespace apo {

double distance(const Family& family, const Axes& a, const Axes& b);

// Returns an expression over the axes that holds for the sizes which are at least as near to `one` as to `other`. On
// the border it is exact to a part in a thousand.
std::string nearer_condition(const Family& family, const Axes& one, const Axes& other);

// Returns the family's first workload that is meant for the target, else its first.
const Workload& first_workload(const Family& family, Target target);

// Returns the family's first workload that the configuration supports. Throws UserError when there is none.
const Workload& first_supported(const Family& family, const Runtime& runtime, const Configuration& configuration);

// Throws UserError where the configuration does not support the workload.
void check_supported(const Runtime& runtime, const Configuration& configuration, const Workload& workload);

// Chooses the workload for a profile of these variants on the workspace's target: the one of that name; for "" the one
// on which this machine judged them, against each other if possible, else the family's first for the target that all of
// them support.
const Workload& profiled_workload(Workspace& workspace, const Family& family,
                                  const std::vector<Configuration>& configurations, const std::string& name,
                                  Observer& observer);

}  // namespace apo
