// harness/core/records/stalls.h - summaries of a profile's stalls: states by share, source lines by samples.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/core/records/profile.h"

namespace apo {

// Returns the states by share, the largest first, without "selected".
std::vector<std::pair<std::string, double>> top_stalls(const Profile& profile);

// Samples of one source line and the most frequent state among them.
struct HotLine {
  std::string file;
  int line = 0;
  std::string text;
  std::int64_t samples = 0;
  double share = 0;  // of all samples
  std::string stall;
  double stall_share = 0;  // of this line's samples
  std::string inlined;     // StallSample::inlined of most of them
};
std::vector<HotLine> hot_lines(const Profile& profile, std::size_t most);

}  // namespace apo
