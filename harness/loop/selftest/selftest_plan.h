// harness/loop/selftest/selftest_plan.h - the kernels that a selftest measures, and their pairs of known difference.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/selftest_record.h"
#include "harness/loop/workspace/workspace.h"

namespace apo {

struct SelftestSubject {
  Configuration configuration;
  const Family* family = nullptr;
  const Workload* workload = nullptr;
};

// Parses "copy/simple@n1m" or "spin/chain[EXTRA=0]@s5k"; the default workload is the family's first one for the target.
// Without names it selects spins of several lengths and bundled variants of the other families. Variants that this
// machine does not support are skipped, with the reason in `left_out`. Throws UserError for unknown names, another
// target and an unsupported workload.
std::vector<SelftestSubject> selftest_subjects(Workspace& workspace, Target target,
                                               const std::vector<std::string>& names,
                                               std::vector<std::string>& left_out);

// Two spins of known difference: the incumbent has extra work, or for a loss the candidate.
struct KnownPair {
  Configuration incumbent;
  Configuration candidate;
  double truth = 0;  // ln(time of incumbent / time of candidate), of the steps
};
// The differences, in thousandths, for which EXTRA of the spins has values.
inline constexpr int kSpinThousandths[] = {1, 2, 3, 5, 10, 20, 50};
bool is_spin(const SelftestSubject& subject);
// Returns pairs with gains of this many thousandths, losses below 0. The default is 0.5, 1, 2 and 5 %, on a GPU also
// 0.1, 0.2 and 0.3 %, and the loss of 1 %. Values that are no whole step of this spin are dropped.
std::vector<KnownPair> known_pairs(const SelftestSubject& spin, std::vector<int> thousandths = {});

}  // namespace apo
