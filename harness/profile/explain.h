// harness/profile/explain.h - explains the difference between two configurations' profiles by metrics.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/core/records/records.h"

namespace apo {

// One quantity of A and B. What it accounts for is time that it took in A and not in B. The states of the warps are
// parts of the whole time and add up to the whole difference. A unit's busy time overlaps with all of them: it accounts
// for at most so much, and for nothing unless its share of the time moved the way of the time. A unit that is busy for
// a larger share of a shorter time is no reason why the time is shorter, nor a cost: the rest has become less.
struct Difference {
  std::string name;   // "stall_barrier"
  std::string words;  // "barrier stalls 41 % -> 3 % of the warps' time"
  double before = 0;
  double after = 0;
  bool in_time = false;    // false: known to differ, but not how much time that is
  bool at_most = false;    // of a time that overlaps with others
  double accounts_ns = 0;  // time(A) - time(B) that this explains; < 0 where B spends more
};

struct Explanation {
  std::string sentence;           // the whole in one line
  double time_difference_ns = 0;  // time(A) - time(B): > 0 when B is faster
  // Differences with a time come first, the largest at the top: parts of the time, then overlapping ones, then parts
  // that speak against the difference.
  std::vector<Difference> differences;
};

// Both profiles are of one workload under the same state of the caches; metrics of both are compared. The resources
// are those of their builds. Differences below 5 % of a quantity, or below 1 % of A's time, are left out.
Explanation explain(const Profile& a, const Profile& b, const std::map<std::string, std::int64_t>& resources_of_a,
                    const std::map<std::string, std::int64_t>& resources_of_b);

}  // namespace apo
