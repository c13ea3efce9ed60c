-- journal/schema/schema_15.sql - version 15: judgements of two dispatches by an application; the conventions are those of schema_1.sql.

-- What was asked. Written when the application is prepared with dispatch A, before it runs. A is the incumbent, B the candidate.
CREATE TABLE application_comparison (
  id          INTEGER PRIMARY KEY,
  campaign    INTEGER REFERENCES campaign,  -- that it ended; NULL: it was asked for alone
  machine     INTEGER NOT NULL REFERENCES machine,
  dispatch_a  TEXT NOT NULL,  -- folder or library, as it was named
  dispatch_b  TEXT NOT NULL,
  folder      TEXT NOT NULL,  -- the application runs in
  application TEXT NOT NULL,  -- JSON: what the campaign file declared
  started_at  TEXT NOT NULL
) STRICT;

-- Fresh runs, in order. Two of one view and pair have one seed.
CREATE TABLE application_run (
  comparison INTEGER NOT NULL REFERENCES application_comparison,
  position   INTEGER NOT NULL,
  view       TEXT NOT NULL CHECK (view IN ('fixed_steps', 'fixed_time')),
  pair       INTEGER NOT NULL,
  side       TEXT NOT NULL CHECK (side IN ('a', 'b')),
  seed       INTEGER NOT NULL,
  outcome    TEXT NOT NULL,
  evidence   TEXT NOT NULL,  -- '' of a valid one
  start_up_s REAL,           -- until the line of its first step
  steps      INTEGER NOT NULL,
  seconds    REAL,           -- that these took, by the clock of apo
  wall_s     REAL NOT NULL,
  metrics    TEXT NOT NULL,  -- JSON: name -> number; '{}' unless valid
  at         TEXT NOT NULL,
  PRIMARY KEY (comparison, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE application_verdict (
  comparison           INTEGER PRIMARY KEY REFERENCES application_comparison,
  outcome              TEXT NOT NULL,  -- of the first run that failed, else 'valid'
  failed               TEXT NOT NULL CHECK (failed IN ('', 'a', 'b', 'both')),
  verdict              TEXT NOT NULL CHECK (verdict IN ('accepted', 'reverted', 'inconclusive')),
  reason               TEXT NOT NULL,
  sentence             TEXT NOT NULL,
  seconds              REAL,
  rule_version         TEXT NOT NULL,
  no_expectation       TEXT NOT NULL,  -- why the columns below are NULL; '' where they are not
  profile              INTEGER REFERENCES application_profile,
  kernel               TEXT NOT NULL,
  kernel_share         REAL,
  kernel_speedup       REAL,
  kernel_speedup_lower REAL,
  kernel_speedup_upper REAL,
  expected             REAL,           -- of a step, by Amdahl's law
  expected_lower       REAL,
  expected_upper       REAL,
  agrees               INTEGER CHECK (agrees IN (0, 1)),
  finished_at          TEXT NOT NULL
) STRICT;

CREATE TABLE application_speed (
  comparison    INTEGER NOT NULL REFERENCES application_comparison,
  view          TEXT NOT NULL,
  value_a       REAL NOT NULL,  -- medians over the pairs, of the declared metric
  value_b       REAL NOT NULL,
  start_up_a_s  REAL NOT NULL,
  start_up_b_s  REAL NOT NULL,
  pairs         INTEGER NOT NULL,
  effect        REAL NOT NULL,  -- log of the ratio of speeds; > 0: B is faster
  lower         REAL NOT NULL,
  upper         REAL NOT NULL,
  confidence    REAL NOT NULL,
  speedup       REAL NOT NULL,  -- exp of the three
  speedup_lower REAL NOT NULL,
  speedup_upper REAL NOT NULL,
  PRIMARY KEY (comparison, view)
) STRICT, WITHOUT ROWID;

-- B less A, paired by seed.
CREATE TABLE application_quality (
  comparison   INTEGER NOT NULL REFERENCES application_comparison,
  view         TEXT NOT NULL,
  metric       TEXT NOT NULL,
  value_a      REAL NOT NULL,
  value_b      REAL NOT NULL,
  change       REAL NOT NULL,
  lower        REAL NOT NULL,
  upper        REAL NOT NULL,
  confidence   REAL NOT NULL,
  margin       REAL NOT NULL,
  seeds        INTEGER NOT NULL,
  seeds_needed INTEGER,  -- NULL: it is decided, or nobody knows
  finding      TEXT NOT NULL CHECK (finding IN ('equivalent', 'better', 'worse', 'inconclusive')),
  PRIMARY KEY (comparison, view, metric)
) STRICT, WITHOUT ROWID;

-- One wide row for each judgement by an application. The state 'running' is also that of one that was interrupted.
CREATE VIEW application_comparisons AS
SELECT c.id, c.campaign, c.dispatch_a, c.dispatch_b, v.outcome, nullif(v.failed, '') AS failed, v.verdict, v.reason,
       s.speedup, s.speedup_lower AS lower, s.speedup_upper AS upper, s.pairs, s.value_a, s.value_b,
       s.start_up_a_s, s.start_up_b_s,
       (SELECT group_concat(q.metric || ' ' || q.finding, ', ') FROM application_quality q
        WHERE q.comparison = c.id AND q.view = 'fixed_steps') AS quality,
       v.kernel_share, v.kernel_speedup, v.expected, v.expected_lower, v.expected_upper, v.agrees,
       m.model AS machine, m.key AS machine_id, c.started_at, v.finished_at,
       CASE WHEN v.comparison IS NULL THEN 'running' ELSE 'finished' END AS state, v.sentence
FROM application_comparison c
JOIN machine m ON m.id = c.machine
LEFT JOIN application_verdict v ON v.comparison = c.id
LEFT JOIN application_speed s ON s.comparison = c.id AND s.view = 'fixed_steps';

-- ---------------------------------------------------------------- not for stand-ins

CREATE TRIGGER application_run_of_open BEFORE INSERT ON application_run
WHEN EXISTS (SELECT 1 FROM application_verdict WHERE comparison = NEW.comparison)
BEGIN SELECT RAISE(ABORT, 'the comparison is over'); END;
