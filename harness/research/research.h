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
// Ranked by the middle of their predictions; the score is that middle, a log speed-up, NaN where nothing is known, and
// such candidates come last. (On the journals under experiments/ this order is right more often than that by the chance
// of a gain or by the expected gain.) What has less than one chance in ten of a gain that this machine resolves is
// left out, unless it was edited since it was tried.
ResearchBrief research(const ResearchInputs& inputs);

// At this part of its floor an incumbent is done: what is left is worth less than judging for it.
inline constexpr double kDoneAtFloor = 0.95;
// Says that it is: "copy/streaming is at 96 % of its floor (memory_copy): at most 1.04x is left". "" while it is not,
// and where its floor is not known: that of tensor cores where it moves products there.
std::string done_at_floor(const Variant& incumbent, const Profile& profile);
// Says why nothing of this brief is worth its judging, with what was left out in groups. "" while something is.
std::string nothing_to_try(const ResearchInputs& inputs, const ResearchBrief& brief);

// Lists the ranked candidates whose refutation no longer holds, because a condition changed: "copy/streaming:
// experiment 12 refuted it, but the incumbent waited for barriers then and waits for global or local memory now".
std::vector<std::string> expired_refutations(const ResearchInputs& inputs, const ResearchBrief& brief);

// Lists what nobody has written against these bottlenecks, as research() does. What cannot be applied here, or not to
// this incumbent, comes last.
std::vector<Idea> unwritten_ideas(const ResearchInputs& inputs, const std::vector<Bottleneck>& bottlenecks);

}  // namespace apo
