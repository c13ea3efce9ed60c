// harness/research/research.h - the research stage: bottlenecks, ranked and predicted candidates, left-out ones.
#pragma once

#include <string>
#include <vector>

#include "harness/research/catalogue/techniques.h"
#include "harness/research/inputs.h"

namespace apo {

// Pure and deterministic in its inputs (the seed orders equals).
//
// score = share x (1 - 1/bound) x prior x evidence / cost + exploration
//   bound        of the bottlenecks that the candidate's new techniques attack, together; half of what the floor leaves
//                when they attack none of those that were found
//   prior        the part of that saving which the middle of the prediction takes, 0..1
//   evidence     the track record of its techniques on this machine; 1 when they are untried, or it was measured itself
//   cost         1 for other settings of a variant that has passed the gates, 1.25 for one that has to build and pass
//   exploration  a quarter of what the top of the band would save beyond its middle, for a source that was never tried
ResearchBrief research(const ResearchInputs& inputs);

// A technique that attacks a bottleneck found here and that no supported variant applies: something to write.
struct Idea {
  Technique technique;
  std::string attacks;  // the bottleneck
  double score = 0;     // saving under the bound x prior / cost
};
std::vector<Idea> unwritten_ideas(const ResearchInputs& inputs, const std::vector<Bottleneck>& bottlenecks);

}  // namespace apo
