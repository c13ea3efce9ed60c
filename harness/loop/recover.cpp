// harness/loop/recover.cpp - after a kill: at most the experiment under way is lost, and that is said.
#include "harness/loop/recover.h"

#include "harness/core/text.h"

namespace apo {

std::vector<std::string> recover(Journal& journal, Observer& observer) {
  std::vector<std::string> said;
  for (const Unfinished& what : journal.unfinished()) {
    if (what.kind == Unfinished::Kind::campaign) {
      continue;
    }
    std::string line = "an earlier run was interrupted in " + what.what + " (begun " + what.started_at + ")";
    if (what.kind == Unfinished::Kind::experiment) {
      line += ": abandoned after " + std::to_string(what.rounds) + " rounds, which are kept";
    }
    journal.mark_abandoned(what, "the run that measured it was interrupted");
    observer.say(line);
    said.push_back(line);
  }
  return said;
}

}  // namespace apo
