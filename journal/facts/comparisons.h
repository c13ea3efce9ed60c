// journal/facts/comparisons.h - writes judgements of two commands, or of two dispatches by an application, and reads
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/core/comparisons/comparison.h"
#include "harness/core/records/experiment.h"
#include "journal/facts/detail.h"

namespace apo {

class Journal;

std::int64_t begin_comparison(Journal& journal, const ProgramComparison& comparison);
void add_comparison_round(Journal& journal, std::int64_t comparison, const Round& round);       // of commands, in order
void add_comparison_run(Journal& journal, std::int64_t comparison, const ApplicationRun& run);  // in order
void finish_comparison(Journal& journal, const ProgramComparison& comparison);
ProgramComparison load_comparison(Journal& journal, std::int64_t id);  // with its rounds or runs; throws UserError
std::vector<ProgramComparison> all_comparisons(Journal& journal, Detail detail = Detail::summary);  // in order

}  // namespace apo
