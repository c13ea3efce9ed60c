// journal/facts/research/proposals.cpp - writes and reads what proposers answered.
#include <algorithm>

#include "journal/columns.h"

namespace apo {
namespace {

std::int64_t row_of(Journal::Implementation& self, const Configuration& configuration) {
  return configuration.variant.empty() ? 0 : self.configuration_row(configuration);
}

std::vector<Proposal> proposals_of(Journal::Implementation& self, std::int64_t call) {
  std::vector<Proposal> proposals;
  Statement rows = self.database.query("SELECT predicted_low, predicted_high, predicted_because, " +
                                           columns_of<Proposal>() + " FROM proposal WHERE call = ? ORDER BY position",
                                       {call});
  while (rows.step()) {
    Proposal& proposal = proposals.emplace_back();
    const Prediction prediction{.low = rows.real(), .high = rows.real(), .because = rows.text()};
    if (has_prediction(prediction)) {
      proposal.prediction = prediction;
    }
    read_row(self, rows, proposal);
  }
  return proposals;
}

// `which` follows the table.
std::vector<ProposerCall> calls_of(Journal::Implementation& self, const std::string& which,
                                   const std::vector<Value>& values) {
  std::vector<ProposerCall> calls;
  Statement rows = self.database.query("SELECT p.id, i.campaign, " + columns_of<ProposerCall>("p.") +
                                           " FROM proposer_call p JOIN iteration i ON i.id = p.iteration" + which,
                                       values);
  while (rows.step()) {
    ProposerCall& call = calls.emplace_back();
    const std::int64_t id = rows.integer();
    call.campaign = rows.integer();
    read_row(self, rows, call);
    call.proposals = proposals_of(self, id);
  }
  return calls;
}

}  // namespace

void Journal::add_proposer_call(std::int64_t iteration, const ProposerCall& call) {
  Transaction transaction(self_->database);
  const std::int64_t id = insert_row(*self_, "proposer_call", call, {{"iteration", iteration}, {"at", utc_now()}});
  int position = 0;
  for (const Proposal& proposal : call.proposals) {
    const Prediction prediction = proposal.prediction.value_or(Prediction());
    insert_row(*self_, "proposal", proposal,
               {{"call", id},
                {"position", position++},
                {"configuration", Value::reference(row_of(*self_, proposal.configuration))},
                {"predicted_low", prediction.low},
                {"predicted_high", prediction.high},
                {"predicted_because", prediction.because}});
  }
  transaction.commit();
}

std::vector<ProposerCall> Journal::proposer_calls(std::int64_t campaign) {
  return calls_of(*self_, " WHERE i.campaign = ? ORDER BY p.id", {campaign});
}

std::vector<ProposerCall> Journal::newest_proposer_calls(const std::string& family, Target target, std::int64_t most) {
  std::vector<ProposerCall> calls = calls_of(
      *self_, " JOIN campaign c ON c.id = i.campaign WHERE c.family = ? AND c.target = ? ORDER BY p.id DESC LIMIT ?",
      {family, to_string(target), most});
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
