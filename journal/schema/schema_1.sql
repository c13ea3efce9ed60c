-- journal/schema/schema.sql - the journal: append-only facts; whatever changes over time is a view over them.
-- This is version 1; the later steps are in schema_2.sql and so on.
--
-- Conventions
--   A fact is written once. Triggers on every table (made by migrations.cpp) refuse UPDATE and DELETE.
--   Times are ISO 8601 UTC. Effects are natural logs of time(incumbent) / time(candidate): > 0 means faster.
--   REAL columns hold NaN as NULL; infinities as themselves; -0.0 comes back as 0.0. Seeds are unsigned 64-bit
--   numbers in two's complement. JSON columns hold flat maps and lists; non-finite numbers in them are "nan", "inf", "-inf".
--   Columns that repeat what others imply (speedup = exp(effect)) are there because exp() and ln() are not in every
--   SQLite, and because they are indexed.

CREATE TABLE blob (
  sha256 TEXT PRIMARY KEY CHECK (length(sha256) = 64),
  kind   TEXT NOT NULL,             -- 'source' or 'log'
  bytes  BLOB NOT NULL
) STRICT;

-- ---------------------------------------------------------------- where and with what

-- One row for each state of a machine: a new driver or kernel is a new row under the same key.
CREATE TABLE machine (
  id           INTEGER PRIMARY KEY,
  fingerprint  TEXT NOT NULL UNIQUE,  -- sha256 over all the facts below
  key          TEXT NOT NULL,         -- stable: GPU UUID or a hash of the CPU facts
  target       TEXT NOT NULL CHECK (target IN ('host', 'cuda')),
  model        TEXT NOT NULL,
  cores        INTEGER NOT NULL,      -- CPUs, or SMs
  kernel       TEXT NOT NULL,
  governor     TEXT NOT NULL,
  isa          TEXT NOT NULL,
  driver       TEXT NOT NULL,
  l2_bytes     INTEGER NOT NULL,
  l3_bytes     INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL,
  facts        TEXT NOT NULL,         -- JSON: name -> text
  first_seen   TEXT NOT NULL
) STRICT;
CREATE INDEX machine_key ON machine (key);

CREATE TABLE toolchain (
  id       INTEGER PRIMARY KEY,
  compiler TEXT NOT NULL,
  version  TEXT NOT NULL,
  UNIQUE (compiler, version)
) STRICT;

-- ---------------------------------------------------------------- variants and configurations

-- One row for each source: an edited variant is a new row under the same id.
CREATE TABLE variant (
  source_hash          TEXT PRIMARY KEY REFERENCES blob,
  id                   TEXT NOT NULL,  -- family/name
  family               TEXT NOT NULL,
  name                 TEXT NOT NULL,
  target               TEXT NOT NULL CHECK (target IN ('host', 'cuda')),
  arch                 TEXT NOT NULL,
  parent               TEXT NOT NULL,
  idea                 TEXT NOT NULL,
  has_prediction       INTEGER NOT NULL CHECK (has_prediction IN (0, 1)),
  predicted_low        REAL,
  predicted_high       REAL,
  predicted_over       TEXT NOT NULL,
  predicted_because    TEXT NOT NULL,
  requires             TEXT NOT NULL,
  tunables             TEXT NOT NULL,  -- JSON: [[name, [values]]]
  scratch              TEXT NOT NULL,  -- JSON: [[name, bytes]]
  launches             TEXT NOT NULL,  -- JSON: [[kernel, {attribute: text}]]
  path                 TEXT NOT NULL,
  registered_at        TEXT NOT NULL
) STRICT;
CREATE INDEX variant_id ON variant (id);

CREATE TABLE variant_technique (
  source_hash TEXT NOT NULL REFERENCES variant,
  position    INTEGER NOT NULL,
  technique   TEXT NOT NULL,
  PRIMARY KEY (source_hash, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX variant_technique_technique ON variant_technique (technique);

CREATE TABLE configuration (
  id       INTEGER PRIMARY KEY,
  variant  TEXT NOT NULL,  -- family/name
  settings TEXT NOT NULL,  -- JSON: tunable -> integer, sorted by name
  label    TEXT NOT NULL,  -- variant[NAME=value,...]
  UNIQUE (variant, settings)
) STRICT;

-- ---------------------------------------------------------------- campaigns and iterations

CREATE TABLE campaign (
  id                       INTEGER PRIMARY KEY,
  machine                  INTEGER NOT NULL REFERENCES machine,
  baseline                 INTEGER NOT NULL REFERENCES configuration,
  baseline_source          TEXT REFERENCES variant,
  family                   TEXT NOT NULL,
  workload_class           TEXT NOT NULL,
  workloads                TEXT NOT NULL,  -- JSON list
  policy_baseline          TEXT NOT NULL,
  iterations               INTEGER NOT NULL,
  candidates_per_iteration INTEGER NOT NULL,
  budget_s                 REAL,
  cache_policy             TEXT NOT NULL,
  judge_profile            TEXT NOT NULL,
  target                   TEXT NOT NULL CHECK (target IN ('host', 'cuda')),
  started_at               TEXT NOT NULL
) STRICT;
CREATE INDEX campaign_scope ON campaign (family, workload_class);

-- The seed is written when the campaign is over: a candidate that reads the journal must not foresee a round.
CREATE TABLE campaign_end (
  campaign INTEGER PRIMARY KEY REFERENCES campaign,
  seed     INTEGER NOT NULL,
  note     TEXT NOT NULL,
  ended_at TEXT NOT NULL
) STRICT;

CREATE TABLE iteration (
  id         INTEGER PRIMARY KEY,
  campaign   INTEGER NOT NULL REFERENCES campaign,
  idx        INTEGER NOT NULL,  -- from 1
  incumbent  INTEGER NOT NULL REFERENCES configuration,
  started_at TEXT NOT NULL
) STRICT;
CREATE INDEX iteration_campaign ON iteration (campaign);

CREATE TABLE iteration_end (
  iteration INTEGER PRIMARY KEY REFERENCES iteration,
  note      TEXT NOT NULL,
  ended_at  TEXT NOT NULL
) STRICT;

-- ---------------------------------------------------------------- profile

CREATE TABLE roof (
  id      INTEGER PRIMARY KEY,
  machine INTEGER NOT NULL REFERENCES machine,
  name    TEXT NOT NULL,
  value   REAL,
  unit    TEXT NOT NULL,
  lower   REAL,
  upper   REAL,
  samples INTEGER NOT NULL,
  note    TEXT NOT NULL,  -- how it was measured
  at      TEXT NOT NULL
) STRICT;
CREATE INDEX roof_machine ON roof (machine, name);

CREATE TABLE profile (
  id             INTEGER PRIMARY KEY,
  iteration      INTEGER REFERENCES iteration,
  experiment     INTEGER REFERENCES experiment,
  machine        INTEGER NOT NULL REFERENCES machine,
  configuration  INTEGER NOT NULL REFERENCES configuration,
  source         TEXT REFERENCES variant,
  workload       TEXT NOT NULL,
  rung           TEXT NOT NULL,
  missing        TEXT NOT NULL,
  floor_ns       REAL,
  floor_roof     TEXT NOT NULL,
  time_ns        REAL,
  floor_fraction REAL,
  at             TEXT NOT NULL
) STRICT;
CREATE INDEX profile_iteration ON profile (iteration);
CREATE INDEX profile_experiment ON profile (experiment);
CREATE INDEX profile_configuration ON profile (configuration, machine);

CREATE TABLE metric (
  profile  INTEGER NOT NULL REFERENCES profile,
  position INTEGER NOT NULL,
  name     TEXT NOT NULL,
  value    REAL,
  unit     TEXT NOT NULL,
  lower    REAL,
  upper    REAL,
  samples  INTEGER NOT NULL,
  PRIMARY KEY (profile, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX metric_name ON metric (name, value);

CREATE TABLE profile_roof (
  profile  INTEGER NOT NULL REFERENCES profile,
  position INTEGER NOT NULL,
  roof     INTEGER NOT NULL REFERENCES roof,
  PRIMARY KEY (profile, position)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- research

CREATE TABLE bottleneck (
  iteration INTEGER NOT NULL REFERENCES iteration,
  position  INTEGER NOT NULL,
  name      TEXT NOT NULL,
  evidence  TEXT NOT NULL,
  bound     REAL,
  PRIMARY KEY (iteration, position)
) STRICT, WITHOUT ROWID;

-- What was ranked, best first, and what was left out and why.
CREATE TABLE ranking (
  iteration         INTEGER NOT NULL REFERENCES iteration,
  left_out          INTEGER NOT NULL CHECK (left_out IN (0, 1)),
  position          INTEGER NOT NULL,
  configuration     INTEGER NOT NULL REFERENCES configuration,
  techniques        TEXT NOT NULL,  -- JSON list
  predicted_low     REAL,
  predicted_high    REAL,
  predicted_over    TEXT NOT NULL,
  predicted_because TEXT NOT NULL,
  attacks           TEXT NOT NULL,
  score             REAL,
  why               TEXT NOT NULL,
  origin            TEXT NOT NULL,
  PRIMARY KEY (iteration, left_out, position)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- experiments

-- Written before anything is measured, so that the prediction cannot know the result.
CREATE TABLE experiment (
  id                INTEGER PRIMARY KEY,
  campaign          INTEGER REFERENCES campaign,   -- NULL outside a campaign
  iteration         INTEGER REFERENCES iteration,
  idx               INTEGER NOT NULL,
  family            TEXT NOT NULL,
  workload_class    TEXT NOT NULL,
  machine           INTEGER NOT NULL REFERENCES machine,
  candidate         INTEGER NOT NULL REFERENCES configuration,
  incumbent         INTEGER NOT NULL REFERENCES configuration,
  candidate_source  TEXT NOT NULL REFERENCES variant,
  incumbent_source  TEXT NOT NULL REFERENCES variant,
  predicted_low     REAL,
  predicted_high    REAL,
  predicted_over    TEXT NOT NULL,
  predicted_because TEXT NOT NULL,
  predicted_log_low  REAL,
  predicted_log_high REAL,
  started_at        TEXT NOT NULL
) STRICT;
CREATE INDEX experiment_campaign ON experiment (campaign);
CREATE INDEX experiment_iteration ON experiment (iteration);
CREATE INDEX experiment_family ON experiment (family);
CREATE INDEX experiment_class ON experiment (workload_class);
CREATE INDEX experiment_candidate ON experiment (candidate);
CREATE INDEX experiment_source ON experiment (candidate_source);
CREATE INDEX experiment_started ON experiment (started_at);

CREATE TABLE experiment_workload (
  experiment INTEGER NOT NULL REFERENCES experiment,
  position   INTEGER NOT NULL,
  workload   TEXT NOT NULL,
  PRIMARY KEY (experiment, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX experiment_workload_workload ON experiment_workload (workload);

CREATE TABLE experiment_technique (
  experiment INTEGER NOT NULL REFERENCES experiment,
  position   INTEGER NOT NULL,
  technique  TEXT NOT NULL,
  PRIMARY KEY (experiment, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX experiment_technique_technique ON experiment_technique (technique);

CREATE TABLE build (
  experiment  INTEGER NOT NULL REFERENCES experiment,
  role        TEXT NOT NULL CHECK (role IN ('candidate', 'incumbent')),
  key         TEXT NOT NULL,
  outcome     TEXT NOT NULL,
  object_path TEXT NOT NULL,
  object_hash TEXT NOT NULL,
  code_hash   TEXT NOT NULL,
  flags       TEXT NOT NULL,  -- JSON list
  toolchain   INTEGER NOT NULL REFERENCES toolchain,
  log         TEXT NOT NULL REFERENCES blob,
  seconds     REAL,
  from_cache  INTEGER NOT NULL CHECK (from_cache IN (0, 1)),
  PRIMARY KEY (experiment, role)
) STRICT, WITHOUT ROWID;
CREATE INDEX build_code ON build (code_hash);

CREATE TABLE build_resource (
  experiment INTEGER NOT NULL,
  role       TEXT NOT NULL,
  name       TEXT NOT NULL,
  value      INTEGER NOT NULL,
  PRIMARY KEY (experiment, role, name),
  FOREIGN KEY (experiment, role) REFERENCES build
) STRICT, WITHOUT ROWID;
CREATE INDEX build_resource_name ON build_resource (name, value);

CREATE TABLE gate (
  experiment INTEGER NOT NULL REFERENCES experiment,
  position   INTEGER NOT NULL,
  gate       TEXT NOT NULL,
  outcome    TEXT NOT NULL,
  evidence   TEXT NOT NULL,
  seconds    REAL,
  PRIMARY KEY (experiment, position)
) STRICT, WITHOUT ROWID;

-- The final incumbent against the campaign's own baseline. after_experiment: the campaign's newest experiment at that time.
CREATE TABLE certification (
  id               INTEGER PRIMARY KEY,
  campaign         INTEGER NOT NULL REFERENCES campaign,
  champion         INTEGER NOT NULL REFERENCES configuration,
  baseline         INTEGER NOT NULL REFERENCES configuration,
  cache_policy     TEXT NOT NULL,
  effect           REAL,
  lower            REAL,
  upper            REAL,
  rounds           INTEGER NOT NULL,
  claimed_effect   REAL,
  alarm            INTEGER NOT NULL CHECK (alarm IN (0, 1)),
  seconds          REAL,
  after_experiment INTEGER NOT NULL,
  at               TEXT NOT NULL
) STRICT;
CREATE INDEX certification_campaign ON certification (campaign);

-- A/A runs: the same code in both slots.
CREATE TABLE sentinel (
  id            INTEGER PRIMARY KEY,
  campaign      INTEGER REFERENCES campaign,
  machine       INTEGER NOT NULL REFERENCES machine,
  configuration INTEGER NOT NULL REFERENCES configuration,
  effect        REAL,
  lower         REAL,
  upper         REAL,
  confidence    REAL,
  sd            REAL,   -- of a round's effect
  p_value       REAL,
  rounds        INTEGER NOT NULL,
  alarm         INTEGER NOT NULL CHECK (alarm IN (0, 1)),
  profile       TEXT NOT NULL,
  cache_policy  TEXT NOT NULL,
  rule_version  TEXT NOT NULL,
  seconds       REAL,
  at            TEXT NOT NULL
) STRICT;
CREATE INDEX sentinel_campaign ON sentinel (campaign);
CREATE INDEX sentinel_machine ON sentinel (machine);

-- One fresh process of an experiment, a certification or a sentinel.
CREATE TABLE round (
  id                 INTEGER PRIMARY KEY,
  experiment         INTEGER REFERENCES experiment,
  certification      INTEGER REFERENCES certification,
  sentinel           INTEGER REFERENCES sentinel,
  stage              TEXT NOT NULL,
  idx                INTEGER NOT NULL,
  seed               INTEGER NOT NULL,
  candidate_in_slot0 INTEGER NOT NULL CHECK (candidate_in_slot0 IN (0, 1)),
  effect             REAL,
  void_why           TEXT NOT NULL,  -- empty: the round counts
  seconds            REAL,
  environment        TEXT NOT NULL,  -- JSON: name -> number
  at                 TEXT NOT NULL,
  CHECK ((experiment IS NOT NULL) + (certification IS NOT NULL) + (sentinel IS NOT NULL) = 1)
) STRICT;
CREATE INDEX round_experiment ON round (experiment) WHERE experiment IS NOT NULL;
CREATE INDEX round_certification ON round (certification) WHERE certification IS NOT NULL;
CREATE INDEX round_sentinel ON round (sentinel) WHERE sentinel IS NOT NULL;

-- samples: every timed call in order, warm-up blocks first. A sequence of LEB128 integers (little-endian base 128):
-- format (1), number of warm-up blocks, number of blocks; then for each block its number of samples and for each
-- sample slot and nanoseconds, both zigzag-coded.
CREATE TABLE round_workload (
  round               INTEGER NOT NULL REFERENCES round,
  position            INTEGER NOT NULL,
  workload            TEXT NOT NULL,
  repetitions         INTEGER NOT NULL,  -- calls in one sample
  effect              REAL,
  incumbent_p90_ns    REAL,
  candidate_p90_ns    REAL,
  incumbent_median_ns REAL,
  candidate_median_ns REAL,
  samples             BLOB NOT NULL,
  PRIMARY KEY (round, position)
) STRICT;

-- The end of an experiment.
CREATE TABLE judgement (
  experiment         INTEGER PRIMARY KEY REFERENCES experiment,
  outcome            TEXT NOT NULL,
  verdict            TEXT NOT NULL CHECK (verdict IN ('accepted', 'reverted', 'inconclusive')),
  reason             TEXT NOT NULL,
  sentence           TEXT NOT NULL,
  effect             REAL,
  lower              REAL,
  upper              REAL,
  confidence         REAL,
  rounds             INTEGER NOT NULL,
  processes          INTEGER NOT NULL,
  samples            INTEGER NOT NULL,
  seconds            REAL,
  search_effect      REAL,
  alpha              REAL,
  minimum_detectable REAL,
  minimum_claim      REAL,
  incumbent_ns       REAL,
  candidate_ns       REAL,
  profile            TEXT NOT NULL,
  cache_policy       TEXT NOT NULL,
  rule_version       TEXT NOT NULL,
  speedup            REAL,  -- exp(effect), exp(lower), exp(upper); NULL for a candidate that was never timed
  speedup_lower      REAL,
  speedup_upper      REAL,
  finished_at        TEXT NOT NULL
) STRICT;
CREATE INDEX judgement_verdict ON judgement (verdict);
CREATE INDEX judgement_reason ON judgement (reason);
CREATE INDEX judgement_outcome ON judgement (outcome);
CREATE INDEX judgement_speedup ON judgement (speedup);

-- What a killed process left open, and why it will not be finished.
CREATE TABLE abandonment (
  id         INTEGER PRIMARY KEY,
  experiment INTEGER UNIQUE REFERENCES experiment,
  iteration  INTEGER UNIQUE REFERENCES iteration,
  campaign   INTEGER UNIQUE REFERENCES campaign,
  why        TEXT NOT NULL,
  at         TEXT NOT NULL,
  CHECK ((experiment IS NOT NULL) + (iteration IS NOT NULL) + (campaign IS NOT NULL) = 1)
) STRICT;

CREATE TABLE lesson (
  id               INTEGER PRIMARY KEY,
  experiment       INTEGER REFERENCES experiment,
  family           TEXT NOT NULL,
  workload_class   TEXT NOT NULL,
  machine          TEXT NOT NULL,  -- machine.key
  configuration    INTEGER NOT NULL REFERENCES configuration,
  source_hash      TEXT NOT NULL,
  incumbent        INTEGER NOT NULL REFERENCES configuration,
  incumbent_source TEXT NOT NULL,
  techniques       TEXT NOT NULL,  -- JSON list
  verdict          TEXT NOT NULL CHECK (verdict IN ('accepted', 'reverted', 'inconclusive')),
  speedup          REAL,
  text             TEXT NOT NULL,
  at               TEXT NOT NULL
) STRICT;
CREATE INDEX lesson_scope ON lesson (family, workload_class, machine);
CREATE INDEX lesson_experiment ON lesson (experiment);

-- ---------------------------------------------------------------- what is over stays over

CREATE TRIGGER judgement_of_open_experiment BEFORE INSERT ON judgement
WHEN EXISTS (SELECT 1 FROM abandonment WHERE experiment = NEW.experiment)
BEGIN SELECT RAISE(ABORT, 'the experiment was abandoned'); END;

CREATE TRIGGER abandonment_of_open BEFORE INSERT ON abandonment
WHEN EXISTS (SELECT 1 FROM judgement WHERE experiment = NEW.experiment)
  OR EXISTS (SELECT 1 FROM iteration_end WHERE iteration = NEW.iteration)
  OR EXISTS (SELECT 1 FROM campaign_end WHERE campaign = NEW.campaign)
BEGIN SELECT RAISE(ABORT, 'it is finished already'); END;

CREATE TRIGGER round_of_open_experiment BEFORE INSERT ON round
WHEN EXISTS (SELECT 1 FROM judgement WHERE experiment = NEW.experiment)
  OR EXISTS (SELECT 1 FROM abandonment WHERE experiment = NEW.experiment)
BEGIN SELECT RAISE(ABORT, 'the experiment is over'); END;

CREATE TRIGGER gate_of_open_experiment BEFORE INSERT ON gate
WHEN EXISTS (SELECT 1 FROM judgement WHERE experiment = NEW.experiment)
  OR EXISTS (SELECT 1 FROM abandonment WHERE experiment = NEW.experiment)
BEGIN SELECT RAISE(ABORT, 'the experiment is over'); END;

-- ---------------------------------------------------------------- views

-- One wide row for each experiment.
CREATE VIEW experiments AS
SELECT e.id, e.campaign, e.iteration, e.idx, e.family, e.workload_class,
       candidate.variant, candidate.settings, candidate.label AS candidate,
       (SELECT group_concat(technique, ',') FROM
          (SELECT technique FROM experiment_technique t WHERE t.experiment = e.id ORDER BY position)) AS techniques,
       incumbent.label AS incumbent,
       j.outcome, j.verdict, j.reason, j.speedup, j.speedup_lower AS lower, j.speedup_upper AS upper, j.confidence,
       e.predicted_low, e.predicted_high, j.rounds, j.samples, j.seconds,
       j.incumbent_ns, j.candidate_ns, j.profile, j.cache_policy, j.rule_version AS judge,
       m.model AS machine, m.key AS machine_id,
       e.candidate_source AS source_hash, b.object_hash, b.code_hash,
       e.started_at, j.finished_at,
       CASE WHEN j.experiment IS NOT NULL THEN 'finished' WHEN a.id IS NOT NULL THEN 'abandoned' ELSE 'running' END AS state,
       CASE WHEN j.experiment IS NOT NULL THEN j.sentence ELSE a.why END AS sentence
FROM experiment e
JOIN configuration candidate ON candidate.id = e.candidate
JOIN configuration incumbent ON incumbent.id = e.incumbent
JOIN machine m ON m.id = e.machine
LEFT JOIN judgement j ON j.experiment = e.id
LEFT JOIN abandonment a ON a.experiment = e.id
LEFT JOIN build b ON b.experiment = e.id AND b.role = 'candidate';

CREATE VIEW campaigns AS
SELECT c.id, c.family, c.workload_class, b.label AS baseline, m.model AS machine, m.key AS machine_id, c.started_at,
       CASE WHEN z.campaign IS NOT NULL THEN 'finished' WHEN a.id IS NOT NULL THEN 'abandoned' ELSE 'open' END AS state,
       coalesce(z.ended_at, a.at) AS ended_at,
       (SELECT count(*) FROM experiment e WHERE e.campaign = c.id) AS experiments,
       (SELECT count(*) FROM experiment e JOIN judgement j ON j.experiment = e.id
         WHERE e.campaign = c.id AND j.verdict = 'accepted') AS accepted
FROM campaign c
JOIN configuration b ON b.id = c.baseline
JOIN machine m ON m.id = c.machine
LEFT JOIN campaign_end z ON z.campaign = c.id
LEFT JOIN abandonment a ON a.campaign = c.id;

-- Accepts that a certification's alarm took back: those since the last certification without an alarm.
CREATE VIEW withdrawn AS
SELECT DISTINCT e.id AS experiment
FROM judgement j
JOIN experiment e ON e.id = j.experiment
JOIN certification c ON c.campaign = e.campaign AND c.alarm = 1 AND c.after_experiment >= e.id
WHERE j.verdict = 'accepted'
  AND NOT EXISTS (SELECT 1 FROM certification good WHERE good.campaign = e.campaign AND good.alarm = 0
                  AND good.after_experiment >= e.id AND good.after_experiment < c.after_experiment);

-- For each family, workload class and machine: the configuration accepted last in a campaign and not withdrawn;
-- where there is none, the baseline of the newest campaign. experiment is NULL for a baseline.
CREATE VIEW incumbents AS
SELECT family, workload_class, machine_id, configuration, source_hash, experiment, campaign, since
FROM (
  SELECT *, row_number() OVER (PARTITION BY family, workload_class, machine_id ORDER BY accepted DESC, sequence DESC) AS place
  FROM (
    SELECT e.family, e.workload_class, m.key AS machine_id, e.candidate AS configuration, e.candidate_source AS source_hash,
           e.id AS experiment, e.campaign, j.finished_at AS since, 1 AS accepted, e.id AS sequence
    FROM judgement j
    CROSS JOIN experiment e ON e.id = j.experiment  -- CROSS: starts from the few that were accepted
    JOIN machine m ON m.id = e.machine
    WHERE j.verdict = 'accepted' AND e.campaign IS NOT NULL AND e.id NOT IN (SELECT experiment FROM withdrawn)
    UNION ALL
    SELECT c.family, c.workload_class, m.key, c.baseline, c.baseline_source, NULL, c.id, c.started_at, 0, c.id
    FROM campaign c JOIN machine m ON m.id = c.machine
  )
)
WHERE place = 1;

CREATE VIEW lessons_view AS
SELECT l.id, l.experiment, l.family, l.workload_class, l.machine AS machine_id, c.label AS candidate, i.label AS incumbent,
       l.techniques, l.verdict, l.speedup, l.text, l.at
FROM lesson l
JOIN configuration c ON c.id = l.configuration
JOIN configuration i ON i.id = l.incumbent;

-- Every timed prediction against what came out. error = effect - middle of the band (logs): > 0 means better than
-- predicted. log_score is the interval score of the band read as an 80 % interval of the log effect (Gneiting &
-- Raftery 2007): width + 10 x the distance by which the effect missed it; 0 is perfect, less is better.
CREATE VIEW predictions AS
SELECT e.id AS experiment, e.campaign, e.family, e.workload_class, c.label AS candidate, e.predicted_low, e.predicted_high,
       j.speedup, j.speedup_lower AS lower, j.speedup_upper AS upper,
       j.effect BETWEEN e.predicted_log_low AND e.predicted_log_high AS hit,
       j.effect - (e.predicted_log_low + e.predicted_log_high) / 2 AS error,
       (e.predicted_log_high - e.predicted_log_low)
         + 10 * (max(e.predicted_log_low - j.effect, 0) + max(j.effect - e.predicted_log_high, 0)) AS log_score
FROM experiment e
JOIN judgement j ON j.experiment = e.id
JOIN configuration c ON c.id = e.candidate
WHERE j.speedup IS NOT NULL AND e.predicted_log_low IS NOT NULL AND e.predicted_log_high IS NOT NULL;
