// journal/facts/incumbents.h - reads what was accepted last: in a class, and on each of its workloads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/variant.h"

namespace apo {

class Journal;

struct Incumbent {
  std::string family;
  std::string workload_class;
  std::string machine;  // Machine::id
  Configuration configuration;
  std::string source_hash;      // "" when a baseline was never registered
  std::int64_t experiment = 0;  // the one that accepted it; 0 for a campaign's baseline
  std::int64_t campaign = 0;
  std::string since;
};

// The incumbent of one workload: what was accepted last there, or what stood there against a configuration that was
// accepted on this or another workload of the class.
struct WorkloadIncumbent {
  std::string workload;
  Incumbent incumbent;  // `experiment` decided it
  bool stood = false;   // as the incumbent of that experiment, whose candidate was slower
};

std::optional<Incumbent> find_incumbent(Journal& journal, const std::string& family, const std::string& workload_class,
                                        const std::string& machine);
std::vector<Incumbent> all_incumbents(Journal& journal);  // by family, workload class and machine
// Incumbents of single workloads, the newest decision first.
std::vector<WorkloadIncumbent> workload_incumbents(Journal& journal, const std::string& family,
                                                   const std::string& workload_class, const std::string& machine);

}  // namespace apo
