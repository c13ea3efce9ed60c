// journal/facts/research/proposals.cpp - writes and reads what proposers answered.
#include "journal/facts/research/proposals.h"

#include <algorithm>

#include "journal/columns.h"

namespace apo {
namespace {

std::int64_t row_of(Journal& journal, const Configuration& configuration) {
  return configuration.variant.empty() ? 0 : configuration_row(journal, configuration);
}

std::vector<Proposal> proposals_of(Journal& journal, std::int64_t call) {
  std::vector<Proposal> proposals;
  Statement rows =
      database_of(journal).query("SELECT predicted_low, predicted_high, predicted_because, " + columns_of<Proposal>() +
                                     " FROM proposal WHERE call = ? ORDER BY position",
                                 {call});
  while (rows.step()) {
    Proposal& proposal = proposals.emplace_back();
    const Prediction prediction{.low = rows.real(), .high = rows.real(), .because = rows.text()};
    if (has_prediction(prediction)) {
      proposal.prediction = prediction;
    }
    read_row(journal, rows, proposal);
  }
  return proposals;
}

// `which` follows the table.
std::vector<ProposerCall> calls_of(Journal& journal, const std::string& which, const std::vector<Value>& values) {
  std::vector<ProposerCall> calls;
  Statement rows =
      database_of(journal).query("SELECT p.id, i.campaign, " + columns_of<ProposerCall>("p.") +
                                     " FROM proposer_call p JOIN iteration i ON i.id = p.iteration" + which,
                                 values);
  while (rows.step()) {
    ProposerCall& call = calls.emplace_back();
    const std::int64_t id = rows.integer();
    call.campaign = rows.integer();
    read_row(journal, rows, call);
    call.proposals = proposals_of(journal, id);
  }
  return calls;
}

}  // namespace

void add_proposer_call(Journal& journal, std::int64_t iteration, const ProposerCall& call) {
  Transaction transaction(database_of(journal));
  const std::int64_t id = insert_row(journal, "proposer_call", call, {{"iteration", iteration}, {"at", utc_now()}});
  int position = 0;
  for (const Proposal& proposal : call.proposals) {
    const Prediction prediction = proposal.prediction.value_or(Prediction());
    insert_row(journal, "proposal", proposal,
               {{"call", id},
                {"position", position++},
                {"configuration", Value::reference(row_of(journal, proposal.configuration))},
                {"predicted_low", prediction.low},
                {"predicted_high", prediction.high},
                {"predicted_because", prediction.because}});
  }
  transaction.commit();
}

std::vector<ProposerCall> proposer_calls_of(Journal& journal, std::int64_t campaign) {
  return calls_of(journal, " WHERE i.campaign = ? ORDER BY p.id", {campaign});
}

std::vector<ProposerCall> newest_proposer_calls(Journal& journal, const std::string& family, Target target,
                                                std::int64_t most) {
  std::vector<ProposerCall> calls = calls_of(
      journal, " JOIN campaign c ON c.id = i.campaign WHERE c.family = ? AND c.target = ? ORDER BY p.id DESC LIMIT ?",
      {family, to_string(target), most});
  std::ranges::reverse(calls);
  return calls;
}

std::map<std::string, std::string> authors_of(Journal& journal, const std::string& family) {
  std::map<std::string, std::string> authors;
  Statement rows = database_of(journal).query(
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
