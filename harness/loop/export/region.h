// harness/loop/export/region.h - the sizes that a row of a dispatch table serves.
#pragma once

#include <string>
#include <vector>

#include "harness/loop/export/dispatch.h"

namespace apo {

struct Region {
  std::string expression;  // "" when nothing says which sizes were meant
  bool unchecked = false;  // goes beyond the sizes that were verified
};

// Returns the sizes of the class, up to those that were verified unless `unchecked`; of a class that the family does
// not list the workloads themselves.
Region region_of(const Family& family, const std::string& workload_class, const std::vector<std::string>& workloads,
                 bool unchecked);

// Takes from each row the sizes that a later one serves and was measured nearer to, so that the first row which serves
// a size is the one with the nearest workload. The rows are the measured ones of one class.
void leave_sizes_to_nearer_rows(const Family& family, std::vector<DispatchRow>& rows);

}  // namespace apo
