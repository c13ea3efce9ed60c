// reports/sections/proposal_section.cpp - who proposed what from outside, what became of it, and what it cost.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "harness/core/interval.h"
#include "harness/core/text.h"
#include "reports/numbers.h"
#include "reports/proposals.h"
#include "reports/sections/sections.h"

namespace apo::report {
namespace {

struct AuthorRecord {
  ProposalCounts counts;
  int inside = 0;  // effects within the author's own band
  int predicted = 0;
  double tokens = 0;
  double usd = 0;
};

void add_effect(const ReportModel& model, const Proposal& proposal, AuthorRecord& record) {
  const Experiment* experiment = experiment_of(model, proposal);
  if (experiment != nullptr && proposal.prediction && has_effect(*experiment)) {
    const double speedup = experiment->judgement->speedup();
    ++record.predicted;
    record.inside += speedup >= proposal.prediction->low && speedup <= proposal.prediction->high ? 1 : 0;
  }
}

void add_cost(const ProposalCost& cost, AuthorRecord& record) {
  record.tokens += std::isfinite(cost.tokens) ? cost.tokens : 0;
  record.usd += std::isfinite(cost.usd) ? cost.usd : 0;
}

std::map<std::string, AuthorRecord> records_of(const ReportModel& model) {
  std::map<std::string, AuthorRecord> records;
  for (const ProposerCall& call : model.proposer_calls) {
    for (const Proposal& proposal : call.proposals) {
      AuthorRecord& record = records[proposal.author];
      count(model, proposal, record.counts);
      add_effect(model, proposal, record);
      add_cost(proposal.cost, record);
    }
    if (!call.proposals.empty()) {
      add_cost(call.cost, records[call.proposals.front().author]);
    }
  }
  return records;
}

std::string amount(double value, const char* unit) {
  return value > 0 ? format_g(value) + unit : "";
}

void write_authors(const ReportModel& model, Writer& writer) {
  Table table{{"author", "proposed", "refused", "repeated", "not judged", "judged", "accepted", "wrong", "as predicted",
               "tokens", "cost"},
              {}};
  for (const auto& [author, record] : records_of(model)) {
    const ProposalCounts& counts = record.counts;
    table.rows.push_back({code(author)});
    for (const int number : {counts.proposed, counts.refused, counts.repeated, counts.not_judged, counts.judged(),
                             counts.accepted, counts.wrong}) {
      table.rows.back().push_back(std::to_string(number));
    }
    table.rows.back().push_back(fmt::format("{} of {}", record.inside, record.predicted));
    table.rows.back().push_back(amount(record.tokens, ""));
    table.rows.back().push_back(amount(record.usd, " USD"));
  }
  writer.table(table);
}

Line fate_of(const ReportModel& model, const Proposal& proposal) {
  if (proposal.state != ProposalState::taken) {
    return std::string(to_string(proposal.state)) + ": " + proposal.why;
  }
  const Experiment* experiment = experiment_of(model, proposal);
  if (experiment == nullptr) {
    return "not judged in this campaign";
  }
  return {verdict_word(experiment->judgement->verdict),
          Span(fmt::format(" as experiment {}", experiment->index), Style::plain, "#" + anchor_of(experiment->index))};
}

void write_proposals_of(const ReportModel& model, Writer& writer) {
  Table table{{"author", "candidate", "idea", "predicted", "then"}, {}};
  for (const ProposerCall& call : model.proposer_calls) {
    for (const Proposal& proposal : call.proposals) {
      table.rows.push_back({code(proposal.author), code(proposal.configuration.label()), proposal.idea,
                            proposal.prediction ? format_band(proposal.prediction->low, proposal.prediction->high) : "",
                            fate_of(model, proposal)});
    }
  }
  if (!table.rows.empty()) {
    write_folded("Proposals", table, writer);
  }
}

}  // namespace

void write_proposals(const ReportModel& model, Writer& writer) {
  if (model.proposer_calls.empty()) {
    return;
  }
  writer.heading(2, "Proposers");
  writer.paragraph(
      "Commands outside of apo were given the brief and proposed candidates; costs are as they "
      "report them. Each proposal was refused, repeated, not judged or judged; wrong are those that a gate "
      "stopped. As predicted: effects within the author's own band.");
  write_authors(model, writer);
  write_proposals_of(model, writer);
  std::vector<Line> notes;
  for (const ProposerCall& call : model.proposer_calls) {
    if (!call.note.empty()) {
      notes.push_back({code(call.command), ": " + call.note});
    }
  }
  if (!notes.empty()) {
    writer.list(notes);
  }
}

}  // namespace apo::report
