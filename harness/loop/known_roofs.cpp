// harness/loop/known_roofs.cpp - what the journal has, unless it is incomplete.
#include "harness/loop/known_roofs.h"

#include "harness/profile/cuda_roofs.h"
#include "journal/journal.h"

namespace apo {

std::vector<Roof> known_roofs(Journal& journal, const Machine& machine) {
  std::vector<Roof> roofs = journal.roofs(machine.id, machine.driver);
  if (machine.target == Target::cuda && !has_all_cuda_roofs(roofs)) {
    return {};
  }
  return roofs;
}

}  // namespace apo
