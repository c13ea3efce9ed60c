// journal/facts/research/briefs.cpp - writes and reads what research found: bottlenecks, candidates, what was left out.
#include "journal/columns.h"

namespace apo {

void Journal::add_brief(std::int64_t iteration, const ResearchBrief& brief) {
  Transaction transaction(self_->database);
  int position = 0;
  for (const Bottleneck& bottleneck : brief.bottlenecks) {
    insert_row(*self_, "bottleneck", bottleneck,
               {{"iteration", iteration},
                {"position", position++},
                {"file", bottleneck.file.empty() ? Value(nullptr) : Value(bottleneck.file)},
                {"line", Value::reference(bottleneck.line)}});
  }
  insert_rows(*self_, "ranking", brief.ranked, {{"iteration", iteration}, {"left_out", false}});
  insert_rows(*self_, "ranking", brief.left_out,
              {{"iteration", iteration},
               {"left_out", true},
               {"techniques", "[]"},
               {"predicted_over", ""},
               {"predicted_because", ""},
               {"attacks", ""},
               {"origin", ""}});
  insert_rows(*self_, "unwritten_technique", brief.unwritten, {{"iteration", iteration}});
  transaction.commit();
}

ResearchBrief Journal::brief(std::int64_t iteration) {
  ResearchBrief brief;
  brief.bottlenecks = read_rows<Bottleneck>(*self_, "bottleneck WHERE iteration = ? ORDER BY position", {iteration});
  brief.ranked =
      read_rows<Candidate>(*self_, "ranking WHERE iteration = ? AND left_out = 0 ORDER BY position", {iteration});
  brief.left_out =
      read_rows<LeftOut>(*self_, "ranking WHERE iteration = ? AND left_out = 1 ORDER BY position", {iteration});
  brief.unwritten = read_rows<Idea>(*self_, "unwritten_technique WHERE iteration = ? ORDER BY position", {iteration});
  return brief;
}

}  // namespace apo
