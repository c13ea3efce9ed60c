-- journal/schema/schema_11.sql - version 11: judgements of two commands; the conventions are those of schema.sql.

-- What was asked. Written when command A has worked once, before anything is timed. A is the incumbent, B the candidate.
CREATE TABLE command_comparison (
  id               INTEGER PRIMARY KEY,
  purpose          TEXT NOT NULL CHECK (purpose IN ('compare', 'gate')),
  machine          INTEGER NOT NULL REFERENCES machine,
  command_a        TEXT NOT NULL,  -- as sh -c gets it
  command_b        TEXT NOT NULL,
  folder           TEXT NOT NULL,  -- they run in
  metric           TEXT NOT NULL,  -- as it was written: 'gbench:NAME'
  higher_is_better INTEGER NOT NULL CHECK (higher_is_better IN (0, 1)),
  correct          TEXT NOT NULL,  -- the command that checked each side; '': nothing was checked
  margin           REAL,           -- of a gate: log effect
  judge_preset     TEXT NOT NULL,  -- 'auto', or the one that was named
  layout           TEXT NOT NULL CHECK (layout IN ('random', 'fixed')),
  runs             INTEGER NOT NULL,  -- of each command in a round, of which the best counts
  timeout_s        REAL,           -- NULL: from how long A takes
  budget_s         REAL,           -- NULL: none
  started_at       TEXT NOT NULL
) STRICT;

-- Fresh runs of each command, in the order that the seed drew. Of the stage 'sentinel' both are command A.
CREATE TABLE command_round (
  comparison  INTEGER NOT NULL REFERENCES command_comparison,
  position    INTEGER NOT NULL,
  stage       TEXT NOT NULL,
  idx         INTEGER NOT NULL,
  seed        INTEGER NOT NULL,
  b_first     INTEGER NOT NULL CHECK (b_first IN (0, 1)),
  value_a     REAL NOT NULL,  -- the best metric of its runs, as the command gave it; times in seconds
  value_b     REAL NOT NULL,
  runs        TEXT NOT NULL,  -- JSON list: the metric of every run, in order: first, other, other, first, first, ...
  effect      REAL NOT NULL,
  void_why    TEXT NOT NULL,  -- empty: the round counts
  seconds     REAL NOT NULL,
  environment TEXT NOT NULL,  -- JSON: name -> number
  at          TEXT NOT NULL,
  PRIMARY KEY (comparison, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE command_verdict (
  comparison         INTEGER PRIMARY KEY REFERENCES command_comparison,
  outcome            TEXT NOT NULL,  -- of B
  verdict            TEXT NOT NULL CHECK (verdict IN ('accepted', 'reverted', 'inconclusive',
                                                      'passed', 'regressed', 'failed', 'undecided')),
  reason             TEXT NOT NULL,  -- '' of a gate
  sentence           TEXT NOT NULL,
  effect             REAL,
  lower              REAL,
  upper              REAL,
  confidence         REAL,           -- NULL of a gate: its bounds are one-sided, at alpha in all
  rounds             INTEGER NOT NULL,
  processes          INTEGER NOT NULL,
  seconds            REAL,
  search_effect      REAL,
  alpha              REAL,
  minimum_detectable REAL,
  minimum_claim      REAL,
  value_a            REAL,           -- medians over the rounds that the effect is of
  value_b            REAL,
  judge_preset       TEXT NOT NULL,  -- that judged; '': nothing was timed
  rule_version       TEXT NOT NULL,
  speedup            REAL,           -- exp(effect), exp(lower), exp(upper); NULL where nothing was timed
  speedup_lower      REAL,
  speedup_upper      REAL,
  finished_at        TEXT NOT NULL
) STRICT;

-- One wide row for each judgement of two commands. The state 'running' is also that of one that was interrupted.
CREATE VIEW command_comparisons AS
SELECT c.id, c.purpose, c.command_a, c.command_b, c.folder, c.metric, c.higher_is_better, c.correct,
       v.outcome, v.verdict, nullif(v.reason, '') AS reason, v.speedup, v.speedup_lower AS lower, v.speedup_upper AS upper,
       v.confidence, v.rounds, v.processes, v.seconds, v.value_a, v.value_b, c.margin, v.judge_preset, v.rule_version,
       c.layout, c.runs, m.model AS machine, m.key AS machine_id, c.started_at, v.finished_at,
       CASE WHEN v.comparison IS NULL THEN 'running' ELSE 'finished' END AS state, v.sentence
FROM command_comparison c
JOIN machine m ON m.id = c.machine
LEFT JOIN command_verdict v ON v.comparison = c.id;

-- ---------------------------------------------------------------- not for stand-ins

CREATE TRIGGER command_round_of_open BEFORE INSERT ON command_round
WHEN EXISTS (SELECT 1 FROM command_verdict WHERE comparison = NEW.comparison)
BEGIN SELECT RAISE(ABORT, 'the comparison is over'); END;
