// journal/facts/unfinished.cpp - finds the rows that a killed process left open, and closes them.
#include "journal/facts/unfinished.h"

#include "journal/columns.h"
#include "journal/facts/comparisons.h"

namespace apo {

APO_COLUMNS(Unfinished, kind, id, campaign, what, started_at, rounds)

namespace {

// Innermost first. Iterations are looked for in open campaigns only: none outlives its campaign (invariants.cpp).
constexpr const char* kUnfinished =
    "(SELECT 1 AS place, 'experiment' AS kind, e.id, coalesce(e.campaign, 0) AS campaign,"
    " 'experiment ' || e.id || ': ' || c.label AS what, e.started_at,"
    " (SELECT count(*) FROM round r WHERE r.experiment = e.id) AS rounds"
    " FROM experiment e JOIN configuration c ON c.id = e.candidate WHERE e.id NOT IN (SELECT experiment FROM judgement)"
    " AND NOT EXISTS (SELECT 1 FROM abandonment a WHERE a.experiment = e.id)"
    " UNION ALL SELECT 2, 'iteration', i.id, i.campaign, 'iteration ' || i.idx || ' of campaign ' || i.campaign,"
    " i.started_at, 0 FROM campaigns c JOIN iteration i ON i.campaign = c.id WHERE c.state = 'open'"
    " AND NOT EXISTS (SELECT 1 FROM iteration_end z WHERE z.iteration = i.id)"
    " AND NOT EXISTS (SELECT 1 FROM abandonment a WHERE a.iteration = i.id)"
    " UNION ALL SELECT 3, 'campaign', id, id, 'campaign ' || id || ': ' || family || ' ' || workload_class, started_at,"
    " 0 FROM campaigns WHERE state = 'open'"
    " UNION ALL SELECT 4, 'comparison', c.id, 0, 'comparison c' || c.id || ': ' || c.b || ' against ' || c.a,"
    " c.started_at, (SELECT count(*) FROM round r WHERE r.comparison = c.id) +"
    " (SELECT count(*) FROM comparison_run r WHERE r.comparison = c.id) FROM comparison c"
    " WHERE c.id NOT IN (SELECT comparison FROM comparison_verdict)) ORDER BY place, id";

}  // namespace

std::vector<Unfinished> all_unfinished(Journal& journal) {
  return read_rows<Unfinished>(journal, kUnfinished);
}

std::optional<std::string> who_works_on(Journal& journal, const Unfinished& what) {
  const Task alone = what.kind == Unfinished::Kind::comparison ? Task::comparison : Task::experiment;
  return what.campaign == 0 ? holder_of(journal, alone, what.id) : holder_of(journal, Task::campaign, what.campaign);
}

std::vector<Unfinished> interrupted_experiments(Journal& journal) {
  std::vector<Unfinished> open = all_unfinished(journal);
  std::erase_if(open, [&](const Unfinished& one) {
    return one.kind != Unfinished::Kind::experiment || who_works_on(journal, one).has_value();
  });
  return open;
}

namespace {

void finish_interrupted(Journal& journal, std::int64_t id, const std::string& why) {
  ProgramComparison comparison = load_comparison(journal, id);
  comparison.judgement = Judgement{.verdict = Verdict::inconclusive, .reason = Reason::interrupted, .sentence = why};
  comparison.judgement->cache_policy.reset();
  if (comparison.purpose == ComparisonPurpose::gate) {
    comparison.gate = GateVerdict::undecided;
  }
  finish_comparison(journal, comparison);
}

}  // namespace

void mark_abandoned(Journal& journal, const Unfinished& what, const std::string& why) {
  if (what.kind == Unfinished::Kind::comparison) {
    return finish_interrupted(journal, what.id, why);
  }
  const auto id_if = [&](Unfinished::Kind kind) { return Value::reference(what.kind == kind ? what.id : 0); };
  database_of(journal).run("INSERT INTO abandonment (experiment, iteration, campaign, why, at) VALUES (?, ?, ?, ?, ?)",
                           {id_if(Unfinished::Kind::experiment), id_if(Unfinished::Kind::iteration),
                            id_if(Unfinished::Kind::campaign), why, utc_now()});
}

}  // namespace apo
