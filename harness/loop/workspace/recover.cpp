// harness/loop/workspace/recover.cpp - marks interrupted experiments as abandoned and reports them.
#include "harness/loop/workspace/recover.h"

#include <fmt/format.h>

#include "harness/core/text.h"

namespace apo {
namespace {

bool can_be_resumed(Journal& journal, std::int64_t campaign) {
  return journal.campaign(campaign)->policy.iterations != kNamedCandidates;
}

}  // namespace

std::vector<std::string> recover(Journal& journal, Observer& observer) {
  std::vector<std::string> said;
  Journal::Batch batch(journal);  // nobody finishes meanwhile what is found open and unattended
  for (const Unfinished& what : journal.unfinished()) {
    const std::optional<std::string> who = journal.who_works_on(what);
    if (what.kind == Unfinished::Kind::campaign && who) {
      observer.say(what.what + " is being run by " + *who + ": where the two share a device, both measure slower and " +
                   "resolve less");
    }
    if (who || (what.kind == Unfinished::Kind::campaign && can_be_resumed(journal, what.id))) {
      continue;
    }
    std::string line = "an earlier run was interrupted in " + what.what + " (begun " + what.started_at + ")";
    if (what.kind == Unfinished::Kind::experiment) {
      line += fmt::format(": abandoned after {} rounds, which are kept", what.rounds);
    }
    journal.mark_abandoned(what, "the run that measured it was interrupted");
    observer.say(line);
    said.push_back(line);
  }
  batch.commit();
  return said;
}

}  // namespace apo
