-- journal/schema/comparisons_of_19.sql - version 19 had tables of their own for comparisons of commands and for those by an application, which
-- get the numbers behind the former. Its tables are called old_.

CREATE TEMP TABLE renumbered AS SELECT id, id + (SELECT coalesce(max(id), 0) FROM old_command_comparison) AS new
FROM old_application_comparison;

INSERT INTO comparison
SELECT id, 'commands', purpose, NULL, machine, command_a, command_b, folder, margin, NULL, started_at FROM old_command_comparison;
INSERT INTO comparison_commands
SELECT id, metric, higher_is_better, correct, judge_preset, layout, runs, coalesce(timeout_s, 0), coalesce(budget_s, 0)
FROM old_command_comparison;
INSERT INTO comparison
SELECT r.new, 'application', 'compare', campaign, machine, dispatch_a, dispatch_b, folder, NULL,
       json_object('command', application -> '$.command', 'prepare', coalesce(application -> '$.prepare', json('[]')),
                   'dispatch_variable', application ->> '$.dispatch_variable', 'metrics',
                   (SELECT json_group_array(json_object('name', m.value ->> 'name', 'unit', coalesce(m.value ->> 'unit', ''), 'role', m.value ->> 'role',
                                                        'higher_is_better', json(iif(m.value ->> 'better' = 'higher', 'true', 'false')),
                                                        'margin', coalesce(m.value -> 'margin', json(printf('%!.17g', (m.value ->> 'margin_percent') / 100.0)), 0),
                                                        'margin_is_share', json(iif(m.value ->> 'margin_percent' IS NULL, 'false', 'true')),
                                                        'last', coalesce(m.value ->> 'last', 0)))
                    FROM json_each(application, '$.metrics') m),
                   'warmup_steps', application ->> '$.warmup_steps', 'steps', application ->> '$.steps', 'seeds', application -> '$.seeds',
                   'pairs', application ->> '$.pairs', 'fixed_time_s', CAST(coalesce(application ->> '$.fixed_time', 0) AS REAL),
                   'time_limit_s', CAST(application ->> '$.time_limit' AS REAL), 'kernels', coalesce(application ->> '$.kernels', '')), started_at
FROM old_application_comparison c JOIN renumbered r ON r.id = c.id;

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
       lower, upper, coalesce(confidence, 0), rounds, processes, processes, coalesce(seconds, 0), search_effect, alpha,
       minimum_detectable, minimum_claim, 0, 0, v.judge_preset, NULL, rule_version, finished_at
FROM old_command_verdict v JOIN old_command_comparison c ON c.id = v.comparison;
INSERT INTO comparison_verdict
SELECT new, outcome, nullif(failed, ''), NULL, verdict, reason, sentence, coalesce(effect, 0), coalesce(lower, 0),
       coalesce(upper, 0), coalesce(confidence, 0.98), coalesce(pairs, 0),
       (SELECT count(*) FROM old_application_run r WHERE r.comparison = v.comparison),
       (SELECT count(*) FROM old_application_run r WHERE r.comparison = v.comparison), coalesce(seconds, 0), 0, 0, 0, 0, 0, 0, '',
       NULL, rule_version, finished_at
FROM old_application_verdict v JOIN renumbered ON id = v.comparison
LEFT JOIN old_application_speed s ON s.comparison = v.comparison AND s.view = 'fixed_steps';

INSERT INTO comparison_expectation
SELECT new, no_expectation, profile, coalesce(kernel_share, 0), kernel, coalesce(kernel_speedup, 0), coalesce(kernel_speedup_lower, 0),
       coalesce(kernel_speedup_upper, 0), coalesce(expected, 0), coalesce(expected_lower, 0), coalesce(expected_upper, 0), coalesce(agrees, 0)
FROM old_application_verdict JOIN renumbered ON id = comparison;

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
