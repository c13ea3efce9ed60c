-- journal/schema/schema.sql - the journal: append-only facts; whatever changes over time is a view over them.
--
-- Conventions
--   A fact is written once. Triggers on every table (made by schema.cpp) refuse UPDATE and DELETE.
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

-- The files of a variant that includes headers. Its source_hash is then the address of their manifest, one line
-- 'SHA256  NAME' a file as sha256sum prints it. No row: the variant is one file, whose address is its source_hash.
CREATE TABLE variant_file (
  source_hash TEXT NOT NULL REFERENCES variant,
  position    INTEGER NOT NULL,  -- 0: the variant's own file; the headers follow by name
  name        TEXT NOT NULL,     -- as it is included; '-': the variant's own file
  file        TEXT NOT NULL REFERENCES blob,
  PRIMARY KEY (source_hash, position),
  UNIQUE (source_hash, name)
) STRICT, WITHOUT ROWID;

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
  preset                   TEXT NOT NULL,  -- the judge's settings
  layout                   TEXT CHECK (layout IN ('random', 'fixed')),  -- NULL: of before it was kept
  target                   TEXT NOT NULL CHECK (target IN ('host', 'cuda')),
  started_at               TEXT NOT NULL
) STRICT;

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
  conditions     TEXT NOT NULL,  -- state of the caches, passes; '' where nothing was read
  floor_ns       REAL,
  floor_roof     TEXT NOT NULL,
  time_ns        REAL,
  floor_fraction REAL,
  at             TEXT NOT NULL
) STRICT;
CREATE INDEX profile_iteration ON profile (iteration);
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

CREATE TABLE profile_roof (
  profile  INTEGER NOT NULL REFERENCES profile,
  position INTEGER NOT NULL,
  roof     INTEGER NOT NULL REFERENCES roof,
  PRIMARY KEY (profile, position)
) STRICT, WITHOUT ROWID;

-- Warps that were found at one instruction in one state; the most frequent first. 'apo doctor --compact' leaves one row a line
-- and state, with the offset of the most frequent instruction.
CREATE TABLE stall_sample (
  profile   INTEGER NOT NULL REFERENCES profile,
  position  INTEGER NOT NULL,
  kernel    TEXT NOT NULL,
  pc_offset INTEGER NOT NULL,  -- bytes from the kernel's begin
  file      TEXT NOT NULL,     -- without its folder; '' where the cubin has no line
  line      INTEGER NOT NULL,
  stall     TEXT NOT NULL,
  samples   INTEGER NOT NULL,
  PRIMARY KEY (profile, position)
) STRICT, WITHOUT ROWID;

-- The text of the lines of the samples.
CREATE TABLE source_line (
  profile INTEGER NOT NULL REFERENCES profile,
  file    TEXT NOT NULL,
  line    INTEGER NOT NULL,
  text    TEXT NOT NULL,
  PRIMARY KEY (profile, file, line)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- research

CREATE TABLE bottleneck (
  iteration INTEGER NOT NULL REFERENCES iteration,
  position  INTEGER NOT NULL,
  name      TEXT NOT NULL,
  kind      TEXT,     -- how it is to be read: 'cause', 'limit' and so on; NULL: of before it was kept
  evidence  TEXT NOT NULL,
  bound     REAL,
  file      TEXT,     -- the line that it sits at; NULL where none stands out
  line      INTEGER,
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
  prediction_source TEXT CHECK (prediction_source IN ('idea', 'measurements', 'nothing')),  -- NULL where left out
  attacks           TEXT NOT NULL,
  score             REAL,
  why               TEXT NOT NULL,
  origin            TEXT NOT NULL,
  left_out_kind     TEXT CHECK (left_out_kind IN
                      ('other_target', 'unsupported', 'incumbent', 'below_resolution', 'refuted', 'unknown')),
  PRIMARY KEY (iteration, left_out, position),
  CHECK ((left_out = 0) = (prediction_source IS NOT NULL)),
  CHECK ((left_out = 1) = (left_out_kind IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- Techniques that attack a bottleneck of the iteration's incumbent and that no variant applies, the most promising first. Of iterations that are
-- older there is no row.
CREATE TABLE unwritten_technique (
  iteration INTEGER NOT NULL REFERENCES iteration,
  position  INTEGER NOT NULL,
  technique TEXT NOT NULL,  -- its name in the catalogue
  attacks   TEXT NOT NULL,  -- a bottleneck
  low       REAL,           -- the speed-up that it gave or is expected to give, as the catalogue had it then
  high      REAL,
  source    TEXT NOT NULL,  -- of these
  score     REAL,
  why_not   TEXT NOT NULL,  -- why it cannot be applied to this incumbent here; '': nothing is in its way
  PRIMARY KEY (iteration, position)
) STRICT, WITHOUT ROWID;

-- One run of a proposer, before the candidates of its iteration are judged. Costs are as it reports them.
CREATE TABLE proposer_call (
  id        INTEGER PRIMARY KEY,
  iteration INTEGER NOT NULL REFERENCES iteration,
  command   TEXT NOT NULL,
  outcome   TEXT NOT NULL,  -- 'answered', 'failed', 'timed_out', 'flooded'
  note      TEXT NOT NULL,
  seconds   REAL NOT NULL,
  tokens    REAL,
  usd       REAL,
  reported_seconds REAL,
  at        TEXT NOT NULL
) STRICT;
CREATE INDEX proposer_call_iteration ON proposer_call (iteration);

CREATE TABLE proposal (
  call          INTEGER NOT NULL REFERENCES proposer_call,
  position      INTEGER NOT NULL,
  author        TEXT NOT NULL,
  configuration INTEGER REFERENCES configuration,  -- NULL: it could not be read as a candidate
  idea          TEXT NOT NULL,
  predicted_low     REAL,                          -- as its author made it, over the parent
  predicted_high    REAL,
  predicted_because TEXT NOT NULL,
  state         TEXT NOT NULL,  -- 'taken', 'repeated', 'refused'
  why           TEXT NOT NULL,
  tokens        REAL,
  usd           REAL,
  seconds       REAL,
  PRIMARY KEY (call, position)
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
  prediction_source TEXT NOT NULL CHECK (prediction_source IN ('idea', 'measurements', 'nothing')),
  predicted_log_low  REAL,
  predicted_log_high REAL,
  started_at        TEXT NOT NULL
) STRICT;
CREATE INDEX experiment_campaign ON experiment (campaign);
CREATE INDEX experiment_iteration ON experiment (iteration);
CREATE INDEX experiment_family ON experiment (family);
CREATE INDEX experiment_class ON experiment (workload_class);
CREATE INDEX experiment_candidate ON experiment (candidate);
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
CREATE INDEX build_object ON build (object_hash);

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

-- Of the gate correctness: the candidate's outputs against the reference on one workload, over all calls.
CREATE TABLE output_error (
  experiment   INTEGER NOT NULL REFERENCES experiment,
  workload     TEXT NOT NULL,
  max_absolute REAL NOT NULL,  -- of the finite elements
  max_relative REAL NOT NULL,  -- to max(|reference|, 0.01)
  has_nan      INTEGER NOT NULL CHECK (has_nan IN (0, 1)),
  has_inf      INTEGER NOT NULL CHECK (has_inf IN (0, 1)),
  PRIMARY KEY (experiment, workload)
) STRICT, WITHOUT ROWID;

-- The final incumbent against the campaign's own baseline. after_experiment: the campaign's newest experiment at that time.
CREATE TABLE certification (
  id               INTEGER PRIMARY KEY,
  campaign         INTEGER NOT NULL REFERENCES campaign,
  incumbent        INTEGER NOT NULL REFERENCES configuration,
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

-- What the solo runs of a certification say about the clock. No row: of before they were made. The numbers are NULL where `missing`
-- says why the clock could not be read. Effects are natural logs, of times, cycles and clocks.
CREATE TABLE certification_clock (
  certification INTEGER PRIMARY KEY REFERENCES certification,
  missing       TEXT NOT NULL,
  coupled       INTEGER NOT NULL CHECK (coupled IN (0, 1)),  -- time_effect is what may be quoted
  blocks        INTEGER NOT NULL,
  solo_run_s    REAL,
  confidence    REAL,   -- of both intervals
  time_effect   REAL,
  time_lower    REAL,
  time_upper    REAL,
  cycle_effect  REAL,
  clock_effect  REAL,   -- of the incumbent's clock over the baseline's
  clock_lower   REAL,
  clock_upper   REAL
) STRICT;

-- One arm alone for seconds, in the order in which they ran: of each workload blocks of four.
CREATE TABLE certification_solo_run (
  certification INTEGER NOT NULL REFERENCES certification,
  position      INTEGER NOT NULL,
  workload      TEXT NOT NULL,
  candidate     INTEGER NOT NULL CHECK (candidate IN (0, 1)),
  seconds       REAL NOT NULL,     -- of its calls
  calls         REAL NOT NULL,
  mhz           REAL NOT NULL,     -- mean clock
  readings      INTEGER NOT NULL,  -- that the mean is of
  PRIMARY KEY (certification, position)
) STRICT, WITHOUT ROWID;

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
  preset        TEXT NOT NULL,
  cache_policy  TEXT NOT NULL,
  rule_version  TEXT NOT NULL,
  seconds       REAL,
  at            TEXT NOT NULL
) STRICT;
CREATE INDEX sentinel_campaign ON sentinel (campaign);

-- One fresh process of an experiment, a certification or a sentinel.
CREATE TABLE round (
  id                 INTEGER PRIMARY KEY,
  experiment         INTEGER REFERENCES experiment,
  certification      INTEGER REFERENCES certification,
  sentinel           INTEGER REFERENCES sentinel,
  comparison         INTEGER REFERENCES comparison,
  stage              TEXT NOT NULL,
  idx                INTEGER NOT NULL,
  seed               INTEGER NOT NULL,
  candidate_in_slot0 INTEGER NOT NULL CHECK (candidate_in_slot0 IN (0, 1)),
  effect             REAL,
  void_why           TEXT NOT NULL,  -- empty: the round counts
  seconds            REAL,
  environment        TEXT NOT NULL,  -- JSON: name -> number
  runs               TEXT,           -- of two commands, JSON list: the metric of every run, in order: first, other, other, first, first, ...;
                                     -- of a suite, in place of the number, a list of [benchmark, value]
  at                 TEXT NOT NULL,
  CHECK ((experiment IS NOT NULL) + (certification IS NOT NULL) + (sentinel IS NOT NULL) + (comparison IS NOT NULL) = 1)
) STRICT;
CREATE INDEX round_experiment ON round (experiment) WHERE experiment IS NOT NULL;
CREATE INDEX round_certification ON round (certification) WHERE certification IS NOT NULL;
CREATE INDEX round_sentinel ON round (sentinel) WHERE sentinel IS NOT NULL;
CREATE INDEX round_comparison ON round (comparison) WHERE comparison IS NOT NULL;

-- samples: every timed call in order, warm-up blocks first. A sequence of LEB128 integers (little-endian base 128):
-- format (1), number of warm-up blocks, number of blocks; then for each block its number of samples and for each
-- sample slot and nanoseconds, both zigzag-coded. 'apo doctor --compact' leaves no blocks of either.
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
  preset             TEXT NOT NULL,
  cache_policy       TEXT NOT NULL,
  rule_version       TEXT NOT NULL,
  speedup            REAL,  -- exp(effect), exp(lower), exp(upper); NULL for a candidate that was never timed
  speedup_lower      REAL,
  speedup_upper      REAL,
  finished_at        TEXT NOT NULL
) STRICT;
CREATE INDEX judgement_verdict ON judgement (verdict);
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

-- Which experiments measure an older one again, and whether its confirmation alone or all of it. Written when the
-- measuring begins; whether it reproduces follows from the two judgements. The seeds of the original stay where they
-- are: in its rounds, and its campaign's in campaign_end.
CREATE TABLE replay (
  experiment INTEGER PRIMARY KEY REFERENCES experiment,
  original   INTEGER NOT NULL REFERENCES experiment,
  kind       TEXT NOT NULL CHECK (kind IN ('confirm', 'replay')),
  at         TEXT NOT NULL,
  CHECK (original < experiment)
) STRICT;
CREATE INDEX replay_original ON replay (original);

-- ---------------------------------------------------------------- workers

-- A process that `apo run --workers` started. Written when it has said which device it holds, or when it is refused.
CREATE TABLE worker (
  id         INTEGER PRIMARY KEY,
  campaign   INTEGER NOT NULL REFERENCES campaign,
  number     INTEGER NOT NULL,            -- of its command, from 1: a command that is started again keeps it
  command    TEXT NOT NULL,
  machine    INTEGER REFERENCES machine,  -- NULL: it ended before it said one
  device     TEXT NOT NULL,               -- a GPU's UUID, or "HOST cpus 0,1"
  started_at TEXT NOT NULL
) STRICT;
CREATE INDEX worker_campaign ON worker (campaign);

CREATE TABLE worker_end (
  worker   INTEGER PRIMARY KEY REFERENCES worker,
  reason   TEXT NOT NULL,  -- 'dismissed', 'died', 'silent', 'gave_back', 'sentinel', 'wrong_version', ...
  note     TEXT NOT NULL,
  ended_at TEXT NOT NULL
) STRICT;

-- A candidate that a worker was given, with its prediction: written before the worker measures anything.
CREATE TABLE placement (
  id         INTEGER PRIMARY KEY,
  worker     INTEGER NOT NULL REFERENCES worker,
  iteration  INTEGER NOT NULL REFERENCES iteration,
  replicates INTEGER REFERENCES placement,  -- whose acceptance it is to confirm on another device; NULL: none
  idx        INTEGER NOT NULL,              -- of the experiment, as the campaign counts them
  candidate  INTEGER NOT NULL REFERENCES configuration,
  incumbent  INTEGER NOT NULL REFERENCES configuration,
  predicted_low  REAL,
  predicted_high REAL,
  started_at TEXT NOT NULL
) STRICT;
CREATE INDEX placement_worker ON placement (worker);
CREATE INDEX placement_iteration ON placement (iteration);

-- Together with the experiment that its answer is.
CREATE TABLE placement_end (
  placement  INTEGER PRIMARY KEY REFERENCES placement,
  state      TEXT NOT NULL CHECK (state IN ('answered', 'given_back', 'rebased', 'interrupted')),
  experiment INTEGER UNIQUE REFERENCES experiment,
  note       TEXT NOT NULL,
  seconds    REAL NOT NULL,  -- of the device that it took
  ended_at   TEXT NOT NULL,
  CHECK ((state = 'answered') = (experiment IS NOT NULL))
) STRICT;

CREATE VIEW workers AS
SELECT w.id, w.campaign, w.number, w.device, m.model AS machine, m.key AS machine_id, w.command, w.started_at,
       coalesce(z.reason, 'open') AS state, z.note, z.ended_at,
       (SELECT count(*) FROM placement p JOIN placement_end e ON e.placement = p.id
        WHERE p.worker = w.id AND e.state = 'answered') AS experiments,
       (SELECT count(*) FROM placement p JOIN placement_end e ON e.placement = p.id
        WHERE p.worker = w.id AND e.state <> 'answered') AS lost,
       (SELECT coalesce(sum(e.seconds), 0) FROM placement p JOIN placement_end e ON e.placement = p.id
        WHERE p.worker = w.id) AS seconds
FROM worker w
LEFT JOIN machine m ON m.id = w.machine
LEFT JOIN worker_end z ON z.worker = w.id;

-- ---------------------------------------------------------------- selftests

CREATE TABLE selftest (
  id            INTEGER PRIMARY KEY,
  machine       INTEGER NOT NULL REFERENCES machine,  -- in the state that it was in: another driver is another machine
  cache_policy  TEXT NOT NULL,
  preset        TEXT NOT NULL,
  rule_version  TEXT NOT NULL,
  started_at    TEXT NOT NULL
) STRICT;

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
  sentence      TEXT NOT NULL,  -- of the judgement: what a guard objected to; '' of before it was kept, like the next three
  calls         INTEGER,        -- in a sample; on a host in a window
  blocks        INTEGER,        -- in a round
  several_cpus  INTEGER CHECK (several_cpus IN (0, 1)),  -- on a host both arms had all CPUs, else one
  at            TEXT NOT NULL
) STRICT;
CREATE INDEX selftest_comparison_selftest ON selftest_comparison (selftest, kind);

CREATE TABLE selftest_kernel (
  selftest           INTEGER NOT NULL REFERENCES selftest,
  position           INTEGER NOT NULL,
  configuration      INTEGER NOT NULL REFERENCES configuration,
  workload           TEXT NOT NULL,
  preset             TEXT NOT NULL,
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

-- ---------------------------------------------------------------- whole applications

CREATE TABLE application_profile (
  id             INTEGER PRIMARY KEY,
  machine        INTEGER REFERENCES machine,
  source         TEXT NOT NULL CHECK (source IN ('run', 'nsys', 'ncu')),  -- 'run'; the others were imports
  command        TEXT NOT NULL,
  device         TEXT NOT NULL,               -- the GPU's name; '' when unknown
  exit_code      INTEGER,                     -- NULL when a signal ended the command
  signal         INTEGER NOT NULL,
  seconds        REAL,
  processes      INTEGER NOT NULL,            -- that started CUDA
  total_ns       INTEGER NOT NULL,            -- of all work
  span_ns        INTEGER NOT NULL,            -- from the first to the last work of each GPU and process, added up
  busy_ns        INTEGER NOT NULL,            -- of it with any work
  longest_gap_ns INTEGER NOT NULL,
  notes          TEXT NOT NULL,               -- JSON list: what the numbers lack
  at             TEXT NOT NULL
) STRICT;

CREATE TABLE application_work (
  profile  INTEGER NOT NULL REFERENCES application_profile,
  position INTEGER NOT NULL,  -- by time
  kind     TEXT NOT NULL CHECK (kind IN ('kernel', 'copy', 'fill')),
  name     TEXT NOT NULL,
  category TEXT NOT NULL,
  calls    INTEGER NOT NULL,
  total_ns INTEGER NOT NULL,
  min_ns   INTEGER NOT NULL,
  max_ns   INTEGER NOT NULL,
  bytes    INTEGER NOT NULL,
  share    REAL NOT NULL,     -- of total_ns of the profile
  PRIMARY KEY (profile, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE application_gap (
  profile  INTEGER NOT NULL REFERENCES application_profile,
  limit_ns INTEGER NOT NULL,  -- gaps up to this long and longer than the next smaller limit; 0: any longer one
  count    INTEGER NOT NULL,
  ns       INTEGER NOT NULL,
  PRIMARY KEY (profile, limit_ns)
) STRICT, WITHOUT ROWID;

-- A partition of the work of each profile. Amdahl's ceiling of a row is 1 / (1 - share).
CREATE VIEW application_categories AS
SELECT w.profile, w.category, sum(w.calls) AS calls, sum(w.total_ns) AS total_ns,
       CAST(sum(w.total_ns) AS REAL) / max(p.total_ns, 1) AS share
FROM application_work w JOIN application_profile p ON p.id = w.profile
GROUP BY w.profile, w.category;

-- All ranges of one name within one other, with the GPU's work that was launched in them and in the ranges within.
CREATE TABLE application_range (
  profile  INTEGER NOT NULL REFERENCES application_profile,
  position INTEGER NOT NULL,  -- depth first, the longest of each first
  name     TEXT NOT NULL,
  path     TEXT NOT NULL,     -- 'step / forward'
  depth    INTEGER NOT NULL,
  entered  INTEGER NOT NULL,
  calls    INTEGER NOT NULL,
  total_ns INTEGER NOT NULL,
  own_ns   INTEGER NOT NULL,  -- without the ranges within
  PRIMARY KEY (profile, position)
) STRICT, WITHOUT ROWID;

-- A partition of the work of each range.
CREATE TABLE application_range_category (
  profile  INTEGER NOT NULL,
  position INTEGER NOT NULL,
  category TEXT NOT NULL,
  calls    INTEGER NOT NULL,
  total_ns INTEGER NOT NULL,
  PRIMARY KEY (profile, position, category),
  FOREIGN KEY (profile, position) REFERENCES application_range
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- judgements of two commands, or of two dispatches

-- What was asked. Written when A has worked once: its command, or the application's preparation with its dispatch. A is the incumbent, B the
-- candidate. Rounds of two commands are in the table round.
CREATE TABLE comparison (
  id          INTEGER PRIMARY KEY,
  kind        TEXT NOT NULL CHECK (kind IN ('commands', 'application')),
  purpose     TEXT NOT NULL CHECK (purpose IN ('compare', 'gate')),
  campaign    INTEGER REFERENCES campaign,  -- that it ended; NULL: it was asked for alone
  machine     INTEGER NOT NULL REFERENCES machine,
  a           TEXT NOT NULL,  -- the command as sh -c gets it, or the folder or library of a dispatch as it was named
  b           TEXT NOT NULL,
  folder      TEXT NOT NULL,  -- both run in
  margin      REAL,           -- of a gate: log effect
  application TEXT,           -- JSON: what the campaign file declared; NULL of two commands
  started_at  TEXT NOT NULL
) STRICT;

-- What else was asked of two commands.
CREATE TABLE comparison_commands (
  comparison       INTEGER PRIMARY KEY REFERENCES comparison,
  metric           TEXT NOT NULL,  -- as it was written: 'gbench:NAME'
  higher_is_better INTEGER NOT NULL CHECK (higher_is_better IN (0, 1)),
  correct          TEXT NOT NULL,  -- the command that checked each side; '': nothing was checked
  judge            TEXT NOT NULL,  -- 'auto', or the preset that was named
  layout           TEXT NOT NULL CHECK (layout IN ('random', 'fixed')),
  runs             INTEGER NOT NULL,  -- of each command in a round, of which the best counts
  timeout_s        REAL NOT NULL,     -- 0: from how long A takes
  budget_s         REAL NOT NULL      -- 0: none
) STRICT;

-- Fresh runs of an application, in order. Two of one view and pair have one seed.
CREATE TABLE comparison_run (
  comparison INTEGER NOT NULL REFERENCES comparison,
  position   INTEGER NOT NULL,
  view       TEXT NOT NULL CHECK (view = 'fixed_steps'),
  pair       INTEGER NOT NULL,
  side       TEXT NOT NULL CHECK (side IN ('a', 'b')),
  seed       INTEGER NOT NULL,
  outcome    TEXT NOT NULL,
  evidence   TEXT NOT NULL,  -- '' of a valid one
  start_up_s REAL NOT NULL,  -- until the line of its first step
  steps      INTEGER NOT NULL,
  seconds    REAL NOT NULL,  -- that these took, by the clock of apo
  wall_s     REAL NOT NULL,
  metrics    TEXT NOT NULL,  -- JSON: name -> number; '{}' unless valid
  at         TEXT NOT NULL,
  PRIMARY KEY (comparison, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE comparison_verdict (
  comparison         INTEGER PRIMARY KEY REFERENCES comparison,
  outcome            TEXT NOT NULL,  -- of the first run that failed, else 'valid'
  failed             TEXT CHECK (failed IN ('a', 'b', 'both')),  -- of an application
  gate               TEXT CHECK (gate IN ('passed', 'regressed', 'failed', 'undecided')),  -- of a gate, which has no other verdict
  verdict            TEXT NOT NULL CHECK (verdict IN ('accepted', 'reverted', 'inconclusive')),
  reason             TEXT NOT NULL,
  sentence           TEXT NOT NULL,
  effect             REAL,     -- of the speed that decides
  lower              REAL,
  upper              REAL,
  confidence         REAL,     -- means nothing of a gate: its bounds are one-sided, at alpha in all
  rounds             INTEGER NOT NULL,  -- or pairs
  processes          INTEGER NOT NULL,
  samples            INTEGER NOT NULL,
  seconds            REAL,
  search_effect      REAL,
  alpha              REAL,
  minimum_detectable REAL,
  minimum_claim      REAL,
  incumbent_ns       REAL,
  candidate_ns       REAL,
  preset             TEXT NOT NULL,  -- that judged; '': nothing was timed, or by an application
  cache_policy       TEXT,           -- NULL: the caches are the programs' own affair
  rule_version       TEXT NOT NULL,
  finished_at        TEXT NOT NULL
) STRICT;

-- Numbers of A and B. The first is the speed that decides: of a suite the geometric mean, before one for each benchmark.
CREATE TABLE comparison_figure (
  comparison INTEGER NOT NULL REFERENCES comparison,
  position   INTEGER NOT NULL,
  view       TEXT NOT NULL CHECK (view IN ('rounds', 'fixed_steps')),
  kind       TEXT NOT NULL CHECK (kind IN ('speed', 'start_up', 'quality')),
  metric     TEXT NOT NULL,
  unit       TEXT NOT NULL,
  value_a    REAL NOT NULL,  -- medians over rounds or pairs, means over seeds
  value_b    REAL NOT NULL,
  change     REAL,           -- of a speed: how many times as fast B is; of a quality: B less A, paired by seed; NULL of a start-up
  lower      REAL,
  upper      REAL,
  confidence REAL NOT NULL,
  count      INTEGER NOT NULL,  -- rounds, pairs or seeds
  margin     REAL NOT NULL,     -- of a quality; of a benchmark of a suite the slowdown that would have shown in 95 of 100 cases
  needed     INTEGER NOT NULL,  -- seeds to be conclusive; 0: it is decided, or nobody knows
  finding    TEXT CHECK (finding IN ('equivalent', 'better', 'worse', 'inconclusive')),  -- of a quality, and of a benchmark of a suite
  PRIMARY KEY (comparison, position)
) STRICT, WITHOUT ROWID;

-- One wide row for each. The state 'running' is also that of one that was interrupted.
CREATE VIEW comparisons AS
SELECT c.id, c.kind, c.purpose, c.campaign, c.a, c.b, c.folder, v.outcome, v.failed, coalesce(v.gate, v.verdict) AS verdict,
       CASE WHEN v.gate IS NULL THEN v.reason END AS reason, s.change AS speedup, s.lower, s.upper, s.value_a, s.value_b,
       CASE WHEN v.gate IS NULL AND v.rounds > 0 THEN v.confidence END AS confidence, v.rounds, v.processes, v.seconds,
       (SELECT group_concat(q.metric || ' ' || q.finding, ', ') FROM comparison_figure q
        WHERE q.comparison = c.id AND q.view = 'fixed_steps' AND q.kind = 'quality') AS quality,
       c.margin, v.preset, v.rule_version, m.model AS machine, m.key AS machine_id, c.started_at,
       v.finished_at, CASE WHEN v.comparison IS NULL THEN 'running' ELSE 'finished' END AS state, v.sentence
FROM comparison c
JOIN machine m ON m.id = c.machine
LEFT JOIN comparison_verdict v ON v.comparison = c.id
LEFT JOIN comparison_figure s ON s.comparison = c.id AND s.position = 0;

CREATE VIEW command_comparisons AS
SELECT id, purpose, a AS command_a, b AS command_b, folder, metric, higher_is_better, correct, outcome, verdict, reason, speedup, lower, upper,
       confidence, rounds, processes, seconds, value_a, value_b, margin, preset, rule_version, layout, runs, machine, machine_id, started_at,
       finished_at, state, sentence
FROM comparisons c JOIN comparison_commands q ON q.comparison = c.id;

CREATE VIEW application_comparisons AS
SELECT c.id, campaign, a AS dispatch_a, b AS dispatch_b, outcome, failed, verdict, reason, c.speedup, c.lower, c.upper, s.count AS pairs,
       c.value_a, c.value_b, s.value_a AS start_up_a_s, s.value_b AS start_up_b_s, quality, machine, machine_id, started_at, finished_at, state,
       sentence
FROM comparisons c
LEFT JOIN comparison_figure s ON s.comparison = c.id AND s.view = 'fixed_steps' AND s.kind = 'start_up'
WHERE c.kind = 'application';

-- ---------------------------------------------------------------- calls of `apo mcp`

-- Written before its command starts. One without an end is running while a server that lives has it, else interrupted.
CREATE TABLE job (
  id         INTEGER PRIMARY KEY,
  tool       TEXT NOT NULL,
  arguments  TEXT NOT NULL,  -- JSON; a source text is replaced by its length and its sha256
  started_at TEXT NOT NULL
) STRICT;

CREATE TABLE job_end (
  job       INTEGER PRIMARY KEY REFERENCES job,
  state     TEXT NOT NULL CHECK (state IN ('done', 'failed', 'cancelled')),
  exit_code INTEGER,        -- NULL for a command that a signal ended
  document  TEXT NOT NULL,  -- JSON, or '' where the command printed none
  message   TEXT NOT NULL,  -- what the command said beside it
  ended_at  TEXT NOT NULL,
  CHECK (state <> 'done' OR document <> '')
) STRICT;

-- Which experiments a job's command began.
CREATE TABLE job_experiment (
  experiment INTEGER PRIMARY KEY REFERENCES experiment,
  job        INTEGER NOT NULL REFERENCES job
) STRICT;
CREATE INDEX job_experiment_job ON job_experiment (job);

CREATE VIEW jobs AS
SELECT j.id, j.tool, coalesce(z.state, 'open') AS state, j.started_at, z.ended_at, z.exit_code, z.message, j.arguments,
       (SELECT count(*) FROM job_experiment e WHERE e.job = j.id) AS experiments
FROM job j
LEFT JOIN job_end z ON z.job = j.id;

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

CREATE TRIGGER output_error_of_open_experiment BEFORE INSERT ON output_error
WHEN EXISTS (SELECT 1 FROM judgement WHERE experiment = NEW.experiment)
  OR EXISTS (SELECT 1 FROM abandonment WHERE experiment = NEW.experiment)
BEGIN SELECT RAISE(ABORT, 'the experiment is over'); END;

CREATE TRIGGER round_of_open_comparison BEFORE INSERT ON round
WHEN EXISTS (SELECT 1 FROM comparison_verdict WHERE comparison = NEW.comparison)
BEGIN SELECT RAISE(ABORT, 'the comparison is over'); END;

CREATE TRIGGER run_of_open_comparison BEFORE INSERT ON comparison_run
WHEN EXISTS (SELECT 1 FROM comparison_verdict WHERE comparison = NEW.comparison)
BEGIN SELECT RAISE(ABORT, 'the comparison is over'); END;

CREATE TRIGGER placement_with_ended_worker BEFORE INSERT ON placement
WHEN EXISTS (SELECT 1 FROM worker_end WHERE worker = NEW.worker)
BEGIN SELECT RAISE(ABORT, 'the worker has ended'); END;

CREATE TRIGGER job_experiment_of_ended_job BEFORE INSERT ON job_experiment
WHEN EXISTS (SELECT 1 FROM job_end WHERE job = NEW.job)
BEGIN SELECT RAISE(ABORT, 'the job is over'); END;

-- ---------------------------------------------------------------- views

-- One wide row for each experiment. LEFT joins throughout: SQLite leaves out those whose columns a query does not read.
CREATE VIEW experiments AS
SELECT e.id, e.campaign, e.iteration, e.idx, e.family, e.workload_class,
       (SELECT group_concat(workload, ',') FROM
          (SELECT workload FROM experiment_workload w WHERE w.experiment = e.id ORDER BY position)) AS workloads,
       candidate.variant, candidate.settings, candidate.label AS candidate,
       (SELECT group_concat(technique, ',') FROM
          (SELECT technique FROM experiment_technique t WHERE t.experiment = e.id ORDER BY position)) AS techniques,
       incumbent.label AS incumbent,
       (SELECT group_concat(name, ',') FROM
          (SELECT name FROM bottleneck b WHERE b.iteration = e.iteration ORDER BY position)) AS bottlenecks,
       (SELECT group_concat(kind, ',') FROM
          (SELECT kind FROM bottleneck b WHERE b.iteration = e.iteration ORDER BY position)) AS bottleneck_kinds,
       (SELECT file FROM bottleneck b WHERE b.iteration = e.iteration AND file IS NOT NULL
          ORDER BY position LIMIT 1) AS bottleneck_file,
       (SELECT line FROM bottleneck b WHERE b.iteration = e.iteration AND line IS NOT NULL
          ORDER BY position LIMIT 1) AS bottleneck_line,
       j.outcome, j.verdict, j.reason, j.speedup, j.speedup_lower AS lower, j.speedup_upper AS upper, j.confidence,
       e.predicted_low, e.predicted_high, j.rounds, j.samples, j.seconds,
       j.incumbent_ns, j.candidate_ns, j.preset, j.cache_policy, j.rule_version AS judge,
       m.model AS machine, m.key AS machine_id,
       e.candidate_source AS source_hash, b.object_hash, b.code_hash,
       e.started_at, j.finished_at,
       CASE WHEN j.experiment IS NOT NULL THEN 'finished' WHEN a.id IS NOT NULL THEN 'abandoned' ELSE 'running' END AS state,
       CASE WHEN j.experiment IS NOT NULL THEN j.sentence ELSE a.why END AS sentence
FROM experiment e
LEFT JOIN configuration candidate ON candidate.id = e.candidate
LEFT JOIN configuration incumbent ON incumbent.id = e.incumbent
LEFT JOIN machine m ON m.id = e.machine
LEFT JOIN judgement j ON j.experiment = e.id
LEFT JOIN abandonment a ON a.experiment = e.id
LEFT JOIN build b ON b.experiment = e.id AND b.role = 'candidate';

-- One row for each profile.
CREATE VIEW profiles AS
SELECT p.id, p.at, substr(c.variant, 1, instr(c.variant, '/') - 1) AS family, c.variant, c.settings, c.label AS candidate,
       p.workload, m.model AS machine, m.key AS machine_id, p.rung, p.time_ns, p.floor_ns
FROM profile p
JOIN configuration c ON c.id = p.configuration
JOIN machine m ON m.id = p.machine;

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
