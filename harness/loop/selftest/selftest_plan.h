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

// "copy/simple@n1m" or "spin/chain[EXTRA=0]@s5k"; without a workload the family's first one for the target. No names:
// spins of several lengths, and variants of the other families that are bundled; what this machine does not support of
// these is left out, and why goes to `left_out`. UserError for unknown names, another target, an unsupported workload.
std::vector<SelftestSubject> selftest_subjects(Workspace& workspace, Target target,
                                               const std::vector<std::string>& names,
                                               std::vector<std::string>& left_out);

// A spin, with so many thousandths of extra work for the incumbent (or, below 0, for the candidate).
struct KnownPair {
  Configuration incumbent;
  Configuration candidate;
  double truth = 0;  // ln(time of incumbent / time of candidate), of the steps
};
// The differences, in thousandths, that EXTRA of the spins has values for.
inline constexpr int kSpinThousandths[] = {1, 2, 3, 5, 10, 20, 50};
bool is_spin(const SelftestSubject& subject);
// Gains of so many thousandths, below 0 losses; of none given, 0.5, 1, 2 and 5 %, on a GPU 0.1, 0.2 and 0.3 % as well,
// and the loss of 1 %. Those that are no whole step of this spin are left out.
std::vector<KnownPair> known_pairs(const SelftestSubject& spin, std::vector<int> thousandths = {});

}  // namespace apo
