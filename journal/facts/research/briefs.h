// journal/facts/research/briefs.h - writes and reads what research found in an iteration.
#pragma once

#include <cstdint>

#include "harness/core/records/research.h"

namespace apo {

class Journal;

void add_brief(Journal& journal, std::int64_t iteration, const ResearchBrief& brief);
ResearchBrief load_brief(Journal& journal, std::int64_t iteration);

}  // namespace apo
