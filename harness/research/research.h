// harness/research/research.h - the research stage: bottlenecks, ranked and predicted candidates, left-out ones.
#pragma once

#include <string>
#include <vector>

#include "harness/research/inputs.h"

namespace apo {

// The least probability of a gain that this machine can resolve: less likely candidates are not tried.
inline constexpr double kLeastChance = 0.1;

// Pure and deterministic in its inputs (the seed orders equals).
//
// Candidates are ranked by the middle of their predictions; the score is that middle, a log speed-up. Candidates
// without a prediction have the score NaN and come last. (On the journals under experiments/ this order is right more
// often than the order by the chance of a gain or by the expected gain.) A candidate with less than one chance in ten
// of a gain that this machine resolves is left out, unless it was edited since it was tried.
ResearchBrief research(const ResearchInputs& inputs);

// An incumbent at this part of its floor is done: the rest is worth less than the judging.
inline constexpr double kDoneAtFloor = 0.95;
// Returns "copy/streaming is at 96 % of its floor (memory_copy): at most 1.04x is left"; "" while it is not done or its
// floor is unknown. An incumbent that uses tensor cores has their floor.
std::string done_at_floor(const Variant& incumbent, const Profile& profile);
// Returns why no candidate of this brief is worth judging, with the counts of those left out; "" while one is.
std::string nothing_to_try(const ResearchInputs& inputs, const ResearchBrief& brief);

}  // namespace apo
