// harness/core/system/orphans.h - finds and ends the processes that a program left running when it ended.
#pragma once

#include <sys/types.h>

#include <vector>

namespace apo {

// Asks every thread: the system hands an orphan to any of them.
std::vector<pid_t> children_of_ours();

// Made before the program starts: from then on what outlives its parent becomes a child of this process, whatever group
// or session it is in. Children that this process has already, and those that are named, are left alone. No other
// thread may start processes meanwhile.
class Orphans {
 public:
  Orphans();
  // Asks them to end, then ends them, with what these leave. Returns how many there were.
  int end_all(const std::vector<pid_t>& except) const;

 private:
  std::vector<pid_t> running(const std::vector<pid_t>& except) const;
  std::vector<pid_t> before_;
};

}  // namespace apo
