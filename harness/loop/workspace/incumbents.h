// harness/loop/workspace/incumbents.h - incumbents of a class whose workloads differ in their answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "journal/journal.h"
#include "kernels/family.h"

namespace apo {

// Returns the incumbents of the class's workloads that the family still has, the newest decision first; none where all
// of them have the incumbent of the class.
std::vector<WorkloadIncumbent> differing_incumbents(Journal& journal, const Family& family, const Incumbent& of_class);

struct NearestIncumbent {
  Incumbent incumbent;
  std::string because;  // "the incumbent of b1_t16384_h83_n32; at b16_t512_h83_n32 it is ..."; "" of a class's only one
};

// Returns the incumbent of the workload that is nearest to `workloads`, by the sum of the distances.
std::optional<NearestIncumbent> nearest_incumbent(Journal& journal, const Family& family,
                                                  const std::string& workload_class, const std::string& machine,
                                                  const std::vector<std::string>& workloads);

}  // namespace apo
