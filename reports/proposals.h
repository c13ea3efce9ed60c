// reports/proposals.h - counts what became of the proposals of a campaign; each is in one class.
#pragma once

#include "reports/model.h"

namespace apo::report {

// proposed = refused + repeated + not judged + judged; judged = accepted + not accepted + wrong.
struct ProposalCounts {
  int proposed = 0;
  int refused = 0;
  int repeated = 0;
  int not_judged = 0;  // taken, and not tried in this campaign
  int accepted = 0;
  int not_accepted = 0;
  int wrong = 0;  // stopped by a gate

  int judged() const { return accepted + not_accepted + wrong; }
};

// The experiment of a proposal that was taken; nullptr: it was not judged in this campaign.
const Experiment* experiment_of(const ReportModel& model, const Proposal& proposal);
void count(const ReportModel& model, const Proposal& proposal, ProposalCounts& counts);
ProposalCounts count_proposals(const ReportModel& model);

}  // namespace apo::report
