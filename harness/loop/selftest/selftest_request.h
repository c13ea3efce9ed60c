// harness/loop/selftest/selftest_request.h - which kernels a selftest measures, how, and for how long.
#pragma once

#include <string>
#include <vector>

#include "harness/core/records/selftest_record.h"
#include "harness/evaluate/rounds/layout.h"

namespace apo {

struct SelftestRequest {
  Target target = Target::host;
  std::vector<std::string> kernels;  // VARIANT@WORKLOAD; empty: the bundled ones
  CachePolicy cache_policy = CachePolicy::cold;
  std::string judge_preset = "auto";  // by each kernel's noise
  Layout layout = Layout::random;
  double round_s = 0;  // kernel time of a round; 0: the profile's
  // The parts that follow the noise study of each kernel. Each part gets its share of the time.
  bool same_code = true;
  bool known_pairs = true;
  std::vector<int> differences;  // of these, in thousandths; empty: the usual ones
  bool layouts = false;          // the same code in two layouts, which stay or are drawn anew
  double seconds = 600;
  int comparisons = 0;  // > 0: of identical code, however long they take
  int rounds = 0;       // > 0: no comparison begins after so many rounds
  bool quick = false;   // fewer processes for the noise
};

}  // namespace apo
