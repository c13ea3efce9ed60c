-- journal/schema/schema_5.sql - version 5: what the judge makes of kernels whose truth is known, on this machine.

CREATE TABLE selftest (
  id            INTEGER PRIMARY KEY,
  machine       INTEGER NOT NULL REFERENCES machine,  -- in the state that it was in: another driver is another machine
  cache_policy  TEXT NOT NULL,
  judge_profile TEXT NOT NULL,
  rule_version  TEXT NOT NULL,
  started_at    TEXT NOT NULL
) STRICT;
CREATE INDEX selftest_machine ON selftest (machine);

-- One judgement. Raw samples are not kept: the effects of the rounds are, so that every verdict can be looked into.
CREATE TABLE selftest_comparison (
  id            INTEGER PRIMARY KEY,
  selftest      INTEGER NOT NULL REFERENCES selftest,
  kind          TEXT NOT NULL CHECK (kind IN ('aa', 'power', 'layout')),
  incumbent     INTEGER NOT NULL REFERENCES configuration,
  candidate     INTEGER NOT NULL REFERENCES configuration,
  workload      TEXT NOT NULL,
  truth         REAL NOT NULL,  -- the effect as it is; 0 for identical code
  random_layout INTEGER NOT NULL CHECK (random_layout IN (0, 1)),
  verdict       TEXT NOT NULL CHECK (verdict IN ('accepted', 'reverted', 'inconclusive')),
  reason        TEXT NOT NULL,
  effect        REAL,
  lower         REAL,
  upper         REAL,
  rounds        INTEGER NOT NULL,
  processes     INTEGER NOT NULL,
  seconds       REAL,
  effects       TEXT NOT NULL,  -- JSON list: of every round that counts, in order
  at            TEXT NOT NULL
) STRICT;
CREATE INDEX selftest_comparison_selftest ON selftest_comparison (selftest, kind);

CREATE TABLE selftest_kernel (
  selftest           INTEGER NOT NULL REFERENCES selftest,
  position           INTEGER NOT NULL,
  configuration      INTEGER NOT NULL REFERENCES configuration,
  workload           TEXT NOT NULL,
  profile            TEXT NOT NULL,
  call_ns            REAL,
  round_s            REAL,
  kernel_s           REAL,
  start_s            REAL,
  rounds_per_process INTEGER NOT NULL,
  round_sd           REAL,
  sample_sd          REAL,  -- each level: what it adds to the one before
  block_sd           REAL,
  within_sd          REAL,
  layout_sd          REAL,
  process_sd         REAL,
  resolves_1s        REAL,  -- NULL: no verdict is possible in that time
  resolves_10s       REAL,
  resolves_60s       REAL,
  smallest_claim     REAL NOT NULL,
  PRIMARY KEY (selftest, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE selftest_end (
  selftest       INTEGER PRIMARY KEY REFERENCES selftest,
  seed           INTEGER NOT NULL,
  smallest_claim REAL NOT NULL,
  seconds        REAL,
  ended_at       TEXT NOT NULL
) STRICT;

-- Over all selftests of a machine: what was accepted of how many, interrupted ones included.
CREATE VIEW selftest_totals AS
SELECT m.key AS machine_id, m.model AS machine, s.rule_version, k.kind, k.random_layout, c.label AS candidate, k.workload, k.truth,
       count(*) AS comparisons, sum(k.verdict = 'accepted') AS accepted, sum(k.reason = 'regression') AS regressions,
       avg(k.seconds) AS mean_seconds,
       avg(CASE WHEN k.verdict = 'accepted' THEN k.effect END) AS mean_claim
FROM selftest_comparison k
JOIN selftest s ON s.id = k.selftest
JOIN machine m ON m.id = s.machine
JOIN configuration c ON c.id = k.incumbent
GROUP BY m.key, m.model, s.rule_version, k.kind, k.random_layout, c.label, k.workload, k.truth;
