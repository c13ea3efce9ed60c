// journal/schema/upgrade.cpp - from version 19: columns get today's words, and tables that only added columns to
// another one become columns of it, and comparisons of both kinds rows of one table.
#include "journal/schema/upgrade.h"

#include <sqlite3.h>

#include <algorithm>

#include "harness/core/text.h"

namespace apo {
namespace {

// A column that version 19 had under another name or in another table; `o` is the old row.
struct Moved {
  const char* column;  // TABLE.COLUMN
  const char* from;
};

constexpr Moved kMoved[] = {
    {"campaign.preset", "judge_profile"},
    {"campaign.layout", "(SELECT nullif(layout, '') FROM old_campaign_layout WHERE campaign = o.id)"},
    {"profile.conditions", "coalesce((SELECT conditions FROM old_profile_condition WHERE profile = o.id), '')"},
    {"bottleneck.kind",
     "(SELECT kind FROM old_bottleneck_place p WHERE p.iteration = o.iteration AND p.position = o.position)"},
    {"bottleneck.file",
     "(SELECT nullif(file, '') FROM old_bottleneck_place p WHERE p.iteration = o.iteration AND p.position = "
     "o.position)"},
    {"bottleneck.line",
     "(SELECT nullif(line, 0) FROM old_bottleneck_place p WHERE p.iteration = o.iteration AND p.position = "
     "o.position)"},
    {"ranking.prediction_source",
     "(SELECT prediction_source FROM old_ranking_kind k WHERE k.iteration = o.iteration AND k.left_out = o.left_out"
     " AND k.position = o.position)"},
    {"ranking.left_out_kind",
     "(SELECT left_out_kind FROM old_ranking_kind k WHERE k.iteration = o.iteration AND k.left_out = o.left_out"
     " AND k.position = o.position)"},
    {"experiment.prediction_source", "(SELECT source FROM old_experiment_prediction WHERE experiment = o.id)"},
    {"certification.incumbent", "champion"},
    {"certification_clock.solo_run_s", "segment_s"},
    {"sentinel.preset", "profile"},
    {"judgement.preset", "profile"},
    {"selftest.preset", "judge_profile"},
    {"selftest_comparison.sentence",
     "coalesce((SELECT sentence FROM old_selftest_evidence WHERE comparison = o.id), '')"},
    {"selftest_comparison.calls", "(SELECT calls FROM old_selftest_evidence WHERE comparison = o.id)"},
    {"selftest_comparison.blocks", "(SELECT blocks FROM old_selftest_evidence WHERE comparison = o.id)"},
    {"selftest_comparison.several_cpus", "(SELECT several_cpus FROM old_selftest_evidence WHERE comparison = o.id)"},
    {"selftest_kernel.preset", "profile"},
    {"round.comparison", "NULL"},
    {"round.runs", "NULL"},
};

// Version 19 had tables of their own for comparisons of commands and for those by an application, which get the numbers
// behind the former.
constexpr const char* kComparisons = R"(
CREATE TEMP TABLE renumbered AS SELECT id, id + (SELECT coalesce(max(id), 0) FROM old_command_comparison) AS new
FROM old_application_comparison;

INSERT INTO comparison
SELECT id, 'commands', purpose, NULL, machine, command_a, command_b, folder, margin,
       json_object('metric', metric, 'higher_is_better', json(iif(higher_is_better, 'true', 'false')),
                   'correct', correct, 'judge', judge_preset, 'layout', layout, 'runs', runs,
                   'timeout_s', coalesce(timeout_s, 0), 'budget_s', coalesce(budget_s, 0)), started_at
FROM old_command_comparison;
INSERT INTO comparison
SELECT new, 'application', 'compare', campaign, machine, dispatch_a, dispatch_b, folder, NULL, application, started_at
FROM old_application_comparison JOIN renumbered USING (id);

INSERT INTO round (comparison, stage, idx, seed, candidate_in_slot0, effect, void_why, seconds, environment, runs, at)
SELECT comparison, stage, idx, seed, b_first, effect, void_why, seconds, environment, runs, at
FROM old_command_round ORDER BY comparison, position;
INSERT INTO comparison_run
SELECT new, position, view, pair, side, seed, outcome, evidence, coalesce(start_up_s, 0), steps, coalesce(seconds, 0),
       wall_s, metrics, at
FROM old_application_run JOIN renumbered ON id = comparison;

INSERT INTO comparison_verdict
SELECT v.comparison, outcome, NULL, iif(purpose = 'gate', verdict, NULL),
       iif(purpose = 'gate', 'inconclusive', verdict), iif(purpose = 'gate', 'unresolved', reason), sentence, effect,
       lower, upper, coalesce(confidence, 0), rounds, processes, processes, seconds, search_effect, alpha,
       minimum_detectable, minimum_claim, 0, 0, v.judge_preset, NULL, rule_version, NULL, finished_at
FROM old_command_verdict v JOIN old_command_comparison c ON c.id = v.comparison;
INSERT INTO comparison_verdict
SELECT new, outcome, nullif(failed, ''), NULL, verdict, reason, sentence, coalesce(effect, 0), coalesce(lower, 0),
       coalesce(upper, 0), coalesce(confidence, 0.98), coalesce(pairs, 0),
       (SELECT count(*) FROM old_application_run r WHERE r.comparison = v.comparison),
       (SELECT count(*) FROM old_application_run r WHERE r.comparison = v.comparison), seconds, 0, 0, 0, 0, 0, 0, '',
       NULL, rule_version,
       json_object('missing', no_expectation, 'profile', coalesce(profile, 0), 'share', coalesce(kernel_share, 0),
                   'kernel', kernel, 'kernel_speedup', coalesce(kernel_speedup, 0), 'kernel_lower',
                   coalesce(kernel_speedup_lower, 0), 'kernel_upper', coalesce(kernel_speedup_upper, 0), 'speedup',
                   coalesce(expected, 0), 'lower', coalesce(expected_lower, 0), 'upper', coalesce(expected_upper, 0),
                   'agrees', json(iif(agrees, 'true', 'false'))), finished_at
FROM old_application_verdict v JOIN renumbered ON id = v.comparison
LEFT JOIN old_application_speed s ON s.comparison = v.comparison AND s.view = 'fixed_steps';

INSERT INTO comparison_figure
SELECT comparison, 0, 'rounds', 'speed', metric, iif(metric LIKE 'json:%' OR metric LIKE 'regex:%', '', 's'), value_a,
       value_b, speedup, speedup_lower, speedup_upper, coalesce(confidence, 0), rounds, 0, 0, NULL
FROM old_command_verdict v JOIN old_command_comparison c ON c.id = v.comparison WHERE rounds > 0 AND value_a > 0;
INSERT INTO comparison_figure
SELECT f.comparison, row_number() OVER (PARTITION BY f.comparison ORDER BY f.view, part, f.metric) - 1, f.view, f.kind,
       f.metric, f.unit, value_a, value_b, change, lower, upper, confidence, count, margin, needed, finding
FROM (SELECT new AS comparison, view, 0 AS part, 'speed' AS kind, m.value ->> 'name' AS metric,
             iif(coalesce(m.value ->> 'better', '') = 'higher', coalesce(m.value ->> 'unit', ''), 's') AS unit, value_a,
             value_b, speedup AS change, speedup_lower AS lower, speedup_upper AS upper, confidence, pairs AS count,
             0 AS margin, 0 AS needed, NULL AS finding
      FROM old_application_speed s JOIN renumbered r ON r.id = s.comparison
      JOIN old_application_comparison c ON c.id = s.comparison, json_each(c.application, '$.metrics') m
      WHERE m.value ->> 'role' = 'speed'
      UNION ALL
      SELECT new, view, 1, 'start_up', 'start-up', 's', start_up_a_s, start_up_b_s, NULL, NULL, NULL, 0, pairs, 0, 0,
             NULL FROM old_application_speed JOIN renumbered ON id = comparison
      UNION ALL
      SELECT new, view, 2, 'quality', metric, '', value_a, value_b, change, lower, upper, confidence, seeds, margin,
             coalesce(seeds_needed, 0), finding FROM old_application_quality JOIN renumbered ON id = comparison) f;
)";

std::string old_name(const std::string& table) {
  return "old_" + (table == "certification_solo_run" ? "certification_segment" : table);
}

std::vector<std::string> columns_of(Database& database, const std::string& table) {
  return database.texts("SELECT name FROM pragma_table_info(?)", {table});
}

std::string source_of(const std::string& table, const std::string& column) {
  const auto moved = std::ranges::find_if(kMoved, [&](const Moved& one) { return table + "." + column == one.column; });
  return moved == std::end(kMoved) ? "o." + column : moved->from;
}

void execute(Database& database, const std::string& sql) {
  database.execute(sql.c_str());
}

}  // namespace

std::vector<std::string> names_of(Database& database, const std::string& type) {
  return database.texts("SELECT name FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite%' ORDER BY rowid",
                        {type});
}

void upgrade(Database& database, const char* schema) {
  execute(database, "DROP TABLE sentence_index");  // with the tables that hold it
  for (const std::string type : {"view", "trigger", "index"}) {
    for (const std::string& name : names_of(database, type)) {
      execute(database, "DROP " + type + " " + name);
    }
  }
  const std::vector<std::string> old_tables = names_of(database, "table");
  for (const std::string& table : old_tables) {
    execute(database, "ALTER TABLE " + table + " RENAME TO old_" + table);
  }
  database.execute(schema);
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);  // what is over may come first
  for (const std::string& table : names_of(database, "table")) {
    if (table.starts_with("old_") || table.starts_with("comparison")) {
      continue;
    }
    const std::vector<std::string> columns = columns_of(database, table);
    std::vector<std::string> sources;
    std::ranges::transform(columns, std::back_inserter(sources),
                           [&](const std::string& column) { return source_of(table, column); });
    execute(database, "INSERT INTO " + table + " (" + join(columns, ", ") + ") SELECT " + join(sources, ", ") +
                          " FROM " + old_name(table) + " o");
  }
  database.execute(kComparisons);
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 1, nullptr);
  for (const std::string& table : old_tables) {
    execute(database, "DROP TABLE old_" + table);
  }
}

}  // namespace apo
