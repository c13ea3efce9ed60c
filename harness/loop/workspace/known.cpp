// harness/loop/workspace/known.cpp - reads roofs unless they are incomplete, and the newest wrong result.
#include "harness/loop/workspace/known.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/profile/host/host_profile.h"
#include "harness/profile/roofs/gpu_roofs.h"
#include "journal/journal.h"
#include "journal/query/queries.h"

namespace apo {

std::string known_incorrect(Journal& journal, const Variant& variant, const Configuration& configuration) {
  const Table found =
      run_query(journal, {.where = {{.key = "source_hash", .values = {variant.source_hash}},
                                    {.key = "candidate", .values = {configuration.label()}},
                                    {.key = "outcome", .values = {std::string(to_string(Outcome::incorrect))}},
                                    // An undecided one may have failed by its incumbent.
                                    {.key = "verdict", .values = {std::string(to_string(Verdict::reverted))}}},
                          .sort = {},
                          .columns = {"id"},
                          .limit = 1});
  return found.rows.empty() ? ""
                            : fmt::format("{} gave wrong results in experiment {}: 'apo show {}' has the evidence",
                                          configuration.label(), std::get<std::int64_t>(found.rows.front().front()),
                                          std::get<std::int64_t>(found.rows.front().front()));
}

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
