// journal/facts/research/briefs.cpp - writes and reads what research found: bottlenecks, ranked and left-out candidates.
#include "journal/encode.h"
#include "journal/implementation.h"

namespace apo {
namespace {

void add_ranked(Journal::Implementation& self, std::int64_t iteration, int position, const Candidate& candidate) {
  self.database.run(
      "INSERT INTO ranking (iteration, left_out, position, configuration, techniques, predicted_low, predicted_high,"
      " predicted_over, predicted_because, prediction_source, attacks, score, why, origin)"
      " VALUES (?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {iteration, position, self.configuration_row(candidate.configuration), encode(candidate.techniques),
       candidate.prediction.low, candidate.prediction.high, candidate.prediction.relative_to,
       candidate.prediction.because, to_string(candidate.prediction.source), candidate.attacks, candidate.score,
       candidate.why, to_string(candidate.origin)});
}

void add_left_out(Journal::Implementation& self, std::int64_t iteration, int position, const LeftOut& left_out) {
  self.database.run(
      "INSERT INTO ranking (iteration, left_out, position, configuration, techniques, predicted_over,"
      " predicted_because, attacks, why, origin, left_out_kind) VALUES (?, 1, ?, ?, '[]', '', '', '', ?, '', ?)",
      {iteration, position, self.configuration_row(left_out.configuration), left_out.why, to_string(left_out.kind)});
}

void read_ranked(Journal::Implementation& self, std::int64_t iteration, ResearchBrief& brief) {
  Statement rows = self.database.query(
      "SELECT configuration, techniques, predicted_low, predicted_high, predicted_over, predicted_because,"
      " prediction_source, attacks, score, why, origin FROM ranking WHERE iteration = ? AND left_out = 0 ORDER BY "
      "position",
      {iteration});
  while (rows.step()) {
    Candidate candidate;
    candidate.configuration = self.configuration(rows.integer());
    candidate.techniques = decode_list(rows.text());
    candidate.prediction = next_prediction(rows);
    candidate.attacks = rows.text();
    candidate.score = rows.real();
    candidate.why = rows.text();
    const std::string origin = rows.text();
    candidate.origin = known(origin_from(origin), origin);
    brief.ranked.push_back(std::move(candidate));
  }
}

void read_left_out(Journal::Implementation& self, std::int64_t iteration, ResearchBrief& brief) {
  Statement rows = self.database.query(
      "SELECT configuration, why, left_out_kind FROM ranking WHERE iteration = ? AND left_out = 1 ORDER BY position",
      {iteration});
  while (rows.step()) {
    LeftOut left_out{.configuration = self.configuration(rows.integer()), .why = rows.text()};
    const std::string kind = rows.text();
    left_out.kind = known(left_out_kind_from(kind), kind);
    brief.left_out.push_back(std::move(left_out));
  }
}

void add_unwritten(Journal::Implementation& self, std::int64_t iteration, int position, const Idea& idea) {
  self.database.run(
      "INSERT INTO unwritten_technique (iteration, position, technique, attacks, low, high, source, score, why_not)"
      " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {iteration, position, idea.technique.name, idea.attacks, idea.technique.low, idea.technique.high,
       idea.technique.source, idea.score, idea.why_not});
}

void read_unwritten(Journal::Implementation& self, std::int64_t iteration, ResearchBrief& brief) {
  Statement rows = self.database.query(
      "SELECT technique, low, high, source, attacks, score, why_not FROM unwritten_technique WHERE iteration = ?"
      " ORDER BY position",
      {iteration});
  while (rows.step()) {
    Idea idea;
    idea.technique.name = rows.text();
    idea.technique.low = rows.real();
    idea.technique.high = rows.real();
    idea.technique.source = rows.text();
    idea.attacks = rows.text();
    idea.score = rows.real();
    idea.why_not = rows.text();
    brief.unwritten.push_back(std::move(idea));
  }
}

}  // namespace

void Journal::add_brief(std::int64_t iteration, const ResearchBrief& brief) {
  Transaction transaction(self_->database);
  int position = 0;
  for (const Bottleneck& bottleneck : brief.bottlenecks) {
    self_->database.run(
        "INSERT INTO bottleneck (iteration, position, name, kind, evidence, bound, file, line)"
        " VALUES (?, ?, ?, ?, ?, ?, nullif(?, ''), nullif(?, 0))",
        {iteration, position++, bottleneck.name, to_string(bottleneck.kind), bottleneck.evidence, bottleneck.bound,
         bottleneck.file, bottleneck.line});
  }
  position = 0;
  for (const Candidate& candidate : brief.ranked) {
    add_ranked(*self_, iteration, position++, candidate);
  }
  position = 0;
  for (const LeftOut& left_out : brief.left_out) {
    add_left_out(*self_, iteration, position++, left_out);
  }
  position = 0;
  for (const Idea& idea : brief.unwritten) {
    add_unwritten(*self_, iteration, position++, idea);
  }
  transaction.commit();
}

ResearchBrief Journal::brief(std::int64_t iteration) {
  ResearchBrief brief;
  Statement bottlenecks = self_->database.query(
      "SELECT name, evidence, bound, kind, file, line FROM bottleneck WHERE iteration = ? ORDER BY position",
      {iteration});
  while (bottlenecks.step()) {
    brief.bottlenecks.push_back({.name = bottlenecks.text(),
                                 .evidence = bottlenecks.text(),
                                 .bound = bottlenecks.real(),
                                 .kind = bottleneck_kind_from(bottlenecks.text()),
                                 .file = bottlenecks.text(),
                                 .line = bottlenecks.small()});
  }
  read_ranked(*self_, iteration, brief);
  read_left_out(*self_, iteration, brief);
  read_unwritten(*self_, iteration, brief);
  return brief;
}

}  // namespace apo
