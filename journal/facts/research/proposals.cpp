// journal/facts/research/proposals.cpp - writes and reads what proposers answered.
#include <algorithm>

#include "journal/implementation.h"

namespace apo {
namespace {

std::int64_t row_of(Journal::Implementation& self, const Configuration& configuration) {
  return configuration.variant.empty() ? 0 : self.configuration_row(configuration);
}

std::vector<Proposal> proposals_of(Journal::Implementation& self, std::int64_t call) {
  std::vector<Proposal> proposals;
  Statement rows = self.database.query(
      "SELECT author, configuration, idea, predicted_low, predicted_high, predicted_because, state, why, tokens, usd, "
      "seconds FROM proposal WHERE call = ?"
      " ORDER BY position",
      {call});
  while (rows.step()) {
    Proposal proposal{.author = rows.text(), .configuration = {}};
    if (const std::int64_t configuration = rows.integer(); configuration != 0) {
      proposal.configuration = self.configuration(configuration);
    }
    proposal.idea = rows.text();
    Prediction prediction{.low = rows.real(), .high = rows.real(), .because = rows.text()};
    if (has_prediction(prediction)) {
      proposal.prediction = std::move(prediction);
    }
    const std::string state = rows.text();
    proposal.state = known(proposal_state_from(state), state);
    proposal.why = rows.text();
    proposal.cost = {.tokens = rows.real(), .usd = rows.real(), .seconds = rows.real()};
    proposals.push_back(std::move(proposal));
  }
  return proposals;
}

constexpr const char* kCalls =
    "SELECT p.id, i.campaign, p.command, p.outcome, p.note, p.seconds, p.tokens, p.usd, p.reported_seconds FROM"
    " proposer_call p JOIN iteration i ON i.id = p.iteration";

std::vector<ProposerCall> calls_of(Journal::Implementation& self, Statement rows) {
  std::vector<ProposerCall> calls;
  while (rows.step()) {
    const std::int64_t id = rows.integer();
    ProposerCall call{.campaign = rows.integer(), .command = rows.text()};
    const std::string outcome = rows.text();
    call.outcome = known(proposer_outcome_from(outcome), outcome);
    call.note = rows.text();
    call.seconds = rows.real();
    call.cost = {.tokens = rows.real(), .usd = rows.real(), .seconds = rows.real()};
    call.proposals = proposals_of(self, id);
    calls.push_back(std::move(call));
  }
  return calls;
}

}  // namespace

void Journal::add_proposer_call(std::int64_t iteration, const ProposerCall& call) {
  Transaction transaction(self_->database);
  const std::int64_t id = self_->database.insert(
      "INSERT INTO proposer_call (iteration, command, outcome, note, seconds, tokens, usd, reported_seconds, at)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {iteration, call.command, to_string(call.outcome), call.note, call.seconds, call.cost.tokens, call.cost.usd,
       call.cost.seconds, time_or_now("")});
  int position = 0;
  for (const Proposal& proposal : call.proposals) {
    const Prediction prediction = proposal.prediction.value_or(Prediction());
    self_->database.run(
        "INSERT INTO proposal (call, position, author, configuration, idea, predicted_low, predicted_high,"
        " predicted_because, state, why, tokens, usd, seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {id, position++, proposal.author, Value::reference(row_of(*self_, proposal.configuration)), proposal.idea,
         prediction.low, prediction.high, prediction.because, to_string(proposal.state), proposal.why,
         proposal.cost.tokens, proposal.cost.usd, proposal.cost.seconds});
  }
  transaction.commit();
}

std::vector<ProposerCall> Journal::proposer_calls(std::int64_t campaign) {
  return calls_of(*self_,
                  self_->database.query(std::string(kCalls) + " WHERE i.campaign = ? ORDER BY p.id", {campaign}));
}

std::vector<ProposerCall> Journal::newest_proposer_calls(const std::string& family, Target target, std::int64_t most) {
  std::vector<ProposerCall> calls = calls_of(
      *self_, self_->database.query(std::string(kCalls) + " JOIN campaign c ON c.id = i.campaign WHERE c.family = ?"
                                                          " AND c.target = ? ORDER BY p.id DESC LIMIT ?",
                                    {family, to_string(target), most}));
  std::ranges::reverse(calls);
  return calls;
}

std::map<std::string, std::string> Journal::authors(const std::string& family) {
  std::map<std::string, std::string> authors;
  Statement rows = self_->database.query(
      "SELECT variant, author FROM proposal JOIN configuration ON configuration.id = configuration"
      " WHERE state = 'taken' AND substr(variant, 1, length(?) + 1) = ? || '/' ORDER BY call, position",
      {family, family});
  while (rows.step()) {
    std::string variant = rows.text();
    authors[std::move(variant)] = rows.text();
  }
  return authors;
}

}  // namespace apo
