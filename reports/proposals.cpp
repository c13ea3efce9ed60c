// reports/proposals.cpp - finds the experiment of each proposal by its configuration.
#include "reports/proposals.h"

#include <algorithm>

namespace apo::report {
namespace {

int& class_of(const Experiment& experiment, ProposalCounts& counts) {
  const Judgement& judgement = *experiment.judgement;
  // What is the incumbent's machine code is not wrong.
  const bool is_wrong = judgement.reason == Reason::gate_failed && experiment.outcome != Outcome::no_change;
  return judgement.verdict == Verdict::accepted ? counts.accepted : is_wrong ? counts.wrong : counts.not_accepted;
}

}  // namespace

const Experiment* experiment_of(const ReportModel& model, const Proposal& proposal) {
  const auto found = std::ranges::find(model.experiments, proposal.configuration, &Experiment::candidate);
  return found == model.experiments.end() || proposal.state != ProposalState::taken ? nullptr : &*found;
}

void count(const ReportModel& model, const Proposal& proposal, ProposalCounts& counts) {
  ++counts.proposed;
  switch (proposal.state) {
    case ProposalState::refused:
      ++counts.refused;
      return;
    case ProposalState::repeated:
      ++counts.repeated;
      return;
    case ProposalState::taken:
      break;
  }
  const Experiment* experiment = experiment_of(model, proposal);
  ++(experiment == nullptr ? counts.not_judged : class_of(*experiment, counts));
}

ProposalCounts count_proposals(const ReportModel& model) {
  ProposalCounts counts;
  for (const ProposerCall& call : model.proposer_calls) {
    for (const Proposal& proposal : call.proposals) {
      count(model, proposal, counts);
    }
  }
  return counts;
}

}  // namespace apo::report
