// harness/loop/workspace/incumbents.h - incumbents of a class whose workloads differ in their answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/core/observer.h"
#include "harness/core/records/records.h"
#include "harness/loop/workspace/workspace.h"
#include "journal/facts/incumbents.h"
#include "kernels/family.h"

namespace apo {

// The family's own for the workspace's target; nothing when it has no variant for it.
std::optional<Configuration> family_baseline(const Workspace& workspace, const std::string& family);

// The policy's baseline; nothing when it names none. UserError for one of another family.
std::optional<Configuration> named_baseline(const Workspace& workspace, const Policy& policy);

// The one that was named, else this machine's incumbent of the nearest judged workload, else the baseline of the
// family. UserError when there is none of them.
Configuration starting_point(const Workspace& workspace, Journal& journal, const Policy& policy, Observer& observer);

struct ClassIncumbents {
  Incumbent of_class;
  // Workloads of the class with an incumbent of their own, the newest decision first; empty where all share the
  // class's.
  std::vector<WorkloadIncumbent> differing;
};
ClassIncumbents class_incumbents(Journal& journal, const Family& family, const Incumbent& of_class);

struct NearestIncumbent {
  Incumbent incumbent;
  std::string because;  // "the incumbent of b1_t16384_h83_n32; at b16_t512_h83_n32 it is ..."; "" of a class's only one
};

// Returns the incumbent of the workload that is nearest to `workloads`, by the sum of the distances.
NearestIncumbent nearest_incumbent(const Family& family, const ClassIncumbents& all,
                                   const std::vector<std::string>& workloads);

}  // namespace apo
