// harness/loop/proposers/propose.cpp - brief, answers, proposals; a line for people on each call.
#include "harness/loop/proposers/propose.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/core/nvtx.h"
#include "harness/core/stopwatch.h"
#include "harness/core/text.h"
#include "harness/implement/plain_call.h"
#include "harness/implement/variant/args_header.h"
#include "harness/loop/proposers/proposals.h"
#include "harness/research/proposers/brief.h"

namespace apo {
namespace {

constexpr std::size_t kToldCalls = 10;

std::vector<ProposerCall> newest_calls(const CampaignFrame& frame) {
  std::vector<ProposerCall> calls = frame.journal.proposer_calls(frame.campaign);
  calls.erase(calls.begin(), calls.end() - static_cast<std::ptrdiff_t>(std::min(calls.size(), kToldCalls)));
  return calls;
}

BriefRequest request_of(const CampaignFrame& frame) {
  BriefRequest request{
      .most = frame.proposers.most, .timeout_s = frame.proposers.timeout_s, .before = newest_calls(frame)};
  if (frame.policy.budget_s > 0) {
    request.budget_left_s = std::max(1.0, frame.policy.budget_s - seconds_since(frame.started));
    request.timeout_s = std::min(request.timeout_s, request.budget_left_s);
  }
  return request;
}

std::string brief_of(const CampaignFrame& frame, const ResearchInputs& inputs, const ResearchBrief& brief,
                     const BriefRequest& request) {
  const Diagnosis& diagnosis = inputs.diagnosis;
  const BriefSubject subject{
      .family = frame.family,
      .machine = frame.workspace.machine(),
      .signature = plain_signature(frame.family, diagnosis.incumbent),
      .argument_header = args_header(frame.family, diagnosis.incumbent, diagnosis.axes, inputs.incumbent.settings)};
  return brief_to_json(brief, inputs, subject, request);
}

// "2 taken, 1 repeated", what went wrong, how long it took.
std::vector<std::string> parts_of(const ProposerCall& call) {
  std::vector<std::string> counts;
  for (const ProposalState state : {ProposalState::taken, ProposalState::repeated, ProposalState::refused}) {
    if (const auto count = std::ranges::count(call.proposals, state, &Proposal::state); count > 0) {
      counts.push_back(fmt::format("{} {}", count, to_string(state)));
    }
  }
  std::vector<std::string> parts = {join(counts, ", "), call.note, format_seconds(call.seconds)};
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
  int taken = 0;
  for (AnsweredCall& one : ask_proposers(options, brief_of(frame, inputs, brief, request), frame.observer)) {
    one.call.proposals = take_proposals(place, one.answer, one.call.command, state.proposed);
    frame.journal.add_proposer_call(iteration, one.call);
    say(frame.observer, one.call);
    taken += static_cast<int>(std::ranges::count(one.call.proposals, ProposalState::taken, &Proposal::state));
  }
  return taken;
}

}  // namespace apo
