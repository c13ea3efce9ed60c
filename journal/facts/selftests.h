// journal/facts/selftests.h - writes selftests as they run, and reads the newest result of a machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/core/records/machine.h"
#include "harness/core/records/selftest_record.h"

namespace apo {

class Journal;

std::int64_t begin_selftest(Journal& journal, const Selftest& selftest);
// A row as soon as the comparison is there.
void add_selftest_comparison(Journal& journal, std::int64_t selftest, const SelftestComparison& comparison);
void finish_selftest(Journal& journal, const Selftest& selftest);
// The newest finished one of this very state of the machine.
std::optional<Selftest> latest_selftest(Journal& journal, const Machine& machine);
std::vector<SelftestComparison> selftest_comparisons(Journal& journal, std::int64_t selftest);
// The newest result for each kernel among the finished selftests of this state of the machine under that rule.
std::vector<SelftestKernel> selftest_kernels(Journal& journal, const Machine& machine, const std::string& rule_version);

}  // namespace apo
