// harness/loop/workspace/known_roofs.cpp - reads the journal's roofs unless they are incomplete.
#include "harness/loop/workspace/known_roofs.h"

#include <algorithm>

#include "harness/profile/host/host_profile.h"
#include "harness/profile/roofs/gpu_roofs.h"
#include "journal/journal.h"

namespace apo {

std::vector<Roof> known_roofs(Journal& journal, const Machine& machine) {
  std::vector<Roof> roofs = journal.roofs(machine.id, machine.driver);
  if (machine.target == Target::cuda && !has_all_cuda_roofs(roofs)) {
    return {};
  }
  return roofs;
}

double floor_of(const Family& family, const Workload& workload, const Machine& machine,
                const std::vector<Roof>& roofs) {
  Work work = family.work(workload.axes);
  // On a GPU, whose copy roofs are those of its memory, as much as fits the L2 need not reach the memory within a call.
  if (machine.target == Target::cuda) {
    work.bytes = std::max(0.0, work.bytes - static_cast<double>(machine.l2_bytes));
  }
  return physical_floor_ns(work, roofs);
}

}  // namespace apo
