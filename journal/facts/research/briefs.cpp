// journal/facts/research/briefs.cpp - writes and reads what research found: bottlenecks, candidates, what was left out.
#include "journal/facts/research/briefs.h"

#include "journal/columns.h"

namespace apo {

void add_brief(Journal& journal, std::int64_t iteration, const ResearchBrief& brief) {
  Transaction transaction(database_of(journal));
  int position = 0;
  for (const Bottleneck& bottleneck : brief.bottlenecks) {
    insert_row(journal, "bottleneck", bottleneck,
               {{"iteration", iteration},
                {"position", position++},
                {"file", bottleneck.file.empty() ? Value(nullptr) : Value(bottleneck.file)},
                {"line", Value::reference(bottleneck.line)}});
  }
  insert_rows(journal, "ranking", brief.ranked, {{"iteration", iteration}, {"left_out", false}});
  insert_rows(journal, "ranking", brief.left_out,
              {{"iteration", iteration},
               {"left_out", true},
               {"techniques", "[]"},
               {"predicted_over", ""},
               {"predicted_because", ""},
               {"attacks", ""},
               {"origin", ""}});
  insert_rows(journal, "unwritten_technique", brief.unwritten, {{"iteration", iteration}});
  transaction.commit();
}

ResearchBrief load_brief(Journal& journal, std::int64_t iteration) {
  ResearchBrief brief;
  brief.bottlenecks = read_rows<Bottleneck>(journal, "bottleneck WHERE iteration = ? ORDER BY position", {iteration});
  brief.ranked =
      read_rows<Candidate>(journal, "ranking WHERE iteration = ? AND left_out = 0 ORDER BY position", {iteration});
  brief.left_out =
      read_rows<LeftOut>(journal, "ranking WHERE iteration = ? AND left_out = 1 ORDER BY position", {iteration});
  brief.unwritten = read_rows<Idea>(journal, "unwritten_technique WHERE iteration = ? ORDER BY position", {iteration});
  return brief;
}

}  // namespace apo
