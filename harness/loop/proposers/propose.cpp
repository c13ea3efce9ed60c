// harness/loop/proposers/propose.cpp - brief, answers, proposals; a line for people on each call.
#include "harness/loop/proposers/propose.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/nvtx.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/loop/proposers/proposals.h"
#include "harness/loop/research/research_inputs.h"

namespace apo {
namespace {

constexpr std::int64_t kToldCalls = 10;

BriefRequest request_of(const CampaignFrame& frame) {
  BriefRequest request{
      .campaign = frame.campaign,
      .most = frame.proposers.most,
      .timeout_s = frame.proposers.timeout_s,
      .before = frame.journal.newest_proposer_calls(frame.family.name, frame.workspace.target(), kToldCalls)};
  if (frame.policy.budget_s > 0) {
    request.budget_left_s = std::max(1.0, frame.policy.budget_s - seconds_since(frame.started));
    request.timeout_s = std::min(request.timeout_s, request.budget_left_s);
  }
  return request;
}

// "3 proposals: 2 taken, 1 repeated", what went wrong, how long it took.
std::vector<std::string> parts_of(const ProposerCall& call) {
  std::vector<std::string> counts;
  for (const ProposalState state : {ProposalState::taken, ProposalState::repeated, ProposalState::refused}) {
    if (const auto count = std::ranges::count(call.proposals, state, &Proposal::state); count > 0) {
      counts.push_back(fmt::format("{} {}", count, to_string(state)));
    }
  }
  const std::string all = fmt::format("{} proposal{}: {}", call.proposals.size(), call.proposals.size() == 1 ? "" : "s",
                                      join(counts, ", "));
  std::vector<std::string> parts = {counts.empty() ? "" : all, call.note, format_seconds(call.seconds)};
  std::erase(parts, "");
  return parts;
}

void say(Observer& observer, const ProposerCall& call) {
  observer.say(fmt::format("  proposer {}: {}", one_line(call.command), join(parts_of(call), "; ")));
  for (const Proposal& proposal : call.proposals) {
    if (proposal.state == ProposalState::taken) {
      observer.say(fmt::format("    {}{}", proposal.configuration.label(),
                               proposal.idea.empty() ? "" : ": " + one_line(proposal.idea)));
    } else {
      observer.say(fmt::format("    {}: {}", to_string(proposal.state), one_line(proposal.why)));
    }
  }
}

}  // namespace

int propose(const CampaignFrame& frame, CampaignProgress& state, std::int64_t iteration, const ResearchInputs& inputs,
            const ResearchBrief& brief) {
  const StageRange range("propose");
  const BriefRequest request = request_of(frame);
  ProposerOptions options = frame.proposers;
  options.timeout_s = request.timeout_s;
  const ProposalPlace place{
      .workspace = frame.workspace, .journal = frame.journal, .family = frame.family, .incumbent = state.incumbent};
  const std::string text = brief_to_json(brief, inputs, brief_subject(frame.workspace, frame.family, inputs), request);
  std::vector<AnsweredCall> answered = ask_proposers(options, text, frame.observer);
  take_proposals(place, answered, state.proposed);
  int taken = 0;
  for (const AnsweredCall& one : answered) {
    frame.journal.add_proposer_call(iteration, one.call);
    say(frame.observer, one.call);
    taken += static_cast<int>(std::ranges::count(one.call.proposals, ProposalState::taken, &Proposal::state));
  }
  return taken;
}

}  // namespace apo
