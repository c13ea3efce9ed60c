// harness/core/records/research.cpp - the words of research.
#include "harness/core/records/research.h"

#include <fmt/format.h>

#include "harness/core/interval.h"
#include "harness/core/words.h"

namespace apo {
namespace {

constexpr EnumWords<BottleneckKind, 4> kKinds = {{{BottleneckKind::cause, "cause"},
                                                  {BottleneckKind::limit, "limit"},
                                                  {BottleneckKind::remainder, "remainder"},
                                                  {BottleneckKind::unknown, "unknown"}}};
constexpr EnumWords<Origin, 3> kOrigins = {
    {{Origin::registered, "registered"}, {Origin::tuning, "tuning"}, {Origin::proposer, "proposer"}}};
constexpr EnumWords<LeftOutKind, 6> kLeftOutKinds = {{{LeftOutKind::other_target, "other_target"},
                                                      {LeftOutKind::unsupported, "unsupported"},
                                                      {LeftOutKind::incumbent, "incumbent"},
                                                      {LeftOutKind::below_resolution, "below_resolution"},
                                                      {LeftOutKind::refuted, "refuted"},
                                                      {LeftOutKind::unknown, "unknown"}}};
constexpr EnumWords<ProposalState, 3> kProposalStates = {
    {{ProposalState::taken, "taken"}, {ProposalState::repeated, "repeated"}, {ProposalState::refused, "refused"}}};
constexpr EnumWords<ProposerOutcome, 4> kProposerOutcomes = {{{ProposerOutcome::answered, "answered"},
                                                              {ProposerOutcome::failed, "failed"},
                                                              {ProposerOutcome::timed_out, "timed_out"},
                                                              {ProposerOutcome::flooded, "flooded"}}};

}  // namespace

std::string worth_text(const Bottleneck& bottleneck) {
  return fmt::format("{} {}", bottleneck.kind == BottleneckKind::cause ? "about" : "at most",
                     format_ratio(bottleneck.bound));
}

std::string_view to_string(BottleneckKind kind) {
  return word_of(kKinds, kind);
}
BottleneckKind bottleneck_kind_from(std::string_view text) {
  return value_of(kKinds, text).value_or(BottleneckKind::unknown);
}
std::string_view to_string(Origin origin) {
  return word_of(kOrigins, origin);
}
std::optional<Origin> origin_from(std::string_view text) {
  return value_of(kOrigins, text);
}
std::string_view to_string(LeftOutKind kind) {
  return word_of(kLeftOutKinds, kind);
}
std::optional<LeftOutKind> left_out_kind_from(std::string_view word) {
  return value_of(kLeftOutKinds, word);
}
std::string_view to_string(ProposalState state) {
  return word_of(kProposalStates, state);
}
std::optional<ProposalState> proposal_state_from(std::string_view word) {
  return value_of(kProposalStates, word);
}
std::string_view to_string(ProposerOutcome outcome) {
  return word_of(kProposerOutcomes, outcome);
}
std::optional<ProposerOutcome> proposer_outcome_from(std::string_view word) {
  return value_of(kProposerOutcomes, word);
}

}  // namespace apo
