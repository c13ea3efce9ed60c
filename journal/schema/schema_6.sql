-- journal/schema/schema_6.sql - version 6: where a bottleneck sits, a campaign's layout, and what answers queries on very many
-- experiments at once.
--
-- The tables facet, facet_member, experiment_span and sentence_index repeat what experiment, judgement and abandonment say,
-- and are written in the same transactions. They alone are no facts, so they may be changed (migrations.cpp), and 'apo doctor' holds them
-- against the facts (invariants.cpp).

CREATE TABLE bottleneck_place (
  iteration INTEGER NOT NULL,
  position  INTEGER NOT NULL,
  kind      TEXT NOT NULL,     -- how the bottleneck is to be read: 'cause', 'limit' and so on
  file      TEXT NOT NULL,     -- '' where no line stands out
  line      INTEGER NOT NULL,  -- 0 where no line stands out
  PRIMARY KEY (iteration, position),
  FOREIGN KEY (iteration, position) REFERENCES bottleneck
) STRICT, WITHOUT ROWID;

-- Kind, file and line are NULL in what older versions wrote; file and line also where no line stands out.
CREATE VIEW iteration_bottlenecks AS
SELECT b.iteration, b.position, b.name, b.bound, b.evidence, p.kind, nullif(p.file, '') AS file, nullif(p.line, 0) AS line
FROM bottleneck b LEFT JOIN bottleneck_place p ON p.iteration = b.iteration AND p.position = b.position;

CREATE TABLE campaign_layout (
  campaign INTEGER PRIMARY KEY REFERENCES campaign,
  layout   TEXT NOT NULL CHECK (layout IN ('random', 'fixed'))
) STRICT;

-- Each combination of the columns that have few values, with the number of its experiments. '' for what an experiment
-- has only once it is judged.
CREATE TABLE facet (
  id             INTEGER PRIMARY KEY,
  family         TEXT NOT NULL,
  workload_class TEXT NOT NULL,
  machine        INTEGER NOT NULL,  -- a row of machine
  state          TEXT NOT NULL,     -- 'running', 'finished' or 'abandoned'
  outcome        TEXT NOT NULL,
  verdict        TEXT NOT NULL,
  reason         TEXT NOT NULL,
  profile        TEXT NOT NULL,
  cache_policy   TEXT NOT NULL,
  judge          TEXT NOT NULL,
  experiments    INTEGER NOT NULL,
  UNIQUE (family, workload_class, machine, state, outcome, verdict, reason, profile, cache_policy, judge)
) STRICT;

CREATE TABLE facet_member (
  facet      INTEGER NOT NULL,
  experiment INTEGER NOT NULL,
  speedup    REAL,
  PRIMARY KEY (facet, experiment)
) STRICT, WITHOUT ROWID;

CREATE INDEX facet_member_speedup ON facet_member (facet, speedup);

-- How many experiments there are of each combination: what would take seconds to count from `experiments`.
CREATE VIEW experiment_counts AS
SELECT f.id AS facet, f.family, f.workload_class, m.model AS machine, m.key AS machine_id, f.state,
       CASE f.state WHEN 'finished' THEN f.outcome END AS outcome, CASE f.state WHEN 'finished' THEN f.verdict END AS verdict,
       CASE f.state WHEN 'finished' THEN f.reason END AS reason, CASE f.state WHEN 'finished' THEN f.profile END AS profile,
       CASE f.state WHEN 'finished' THEN f.cache_policy END AS cache_policy,
       CASE f.state WHEN 'finished' THEN f.judge END AS judge,
       f.experiments
FROM facet f JOIN machine m ON m.id = f.machine
WHERE f.experiments > 0;

-- When the experiments of each 4096 numbers in a row started: numbers grow with time but where a clock was set back.
CREATE TABLE experiment_span (
  block    INTEGER PRIMARY KEY,  -- number / 4096
  earliest TEXT NOT NULL,
  latest   TEXT NOT NULL
) STRICT;

-- Every three letters in a row of the sentence of an experiment (its rowid), for what is sought inside sentences. Written
-- by the program: SQLite lets no trigger of an untrusted file write to a virtual table.
CREATE VIRTUAL TABLE sentence_index USING fts5(sentence, content = '', tokenize = 'trigram');

INSERT INTO facet (family, workload_class, machine, state, outcome, verdict, reason, profile, cache_policy, judge, experiments)
SELECT e.family, e.workload_class, e.machine,
       CASE WHEN j.experiment IS NOT NULL THEN 'finished' WHEN a.id IS NOT NULL THEN 'abandoned' ELSE 'running' END AS state,
       coalesce(j.outcome, ''), coalesce(j.verdict, ''), coalesce(j.reason, ''), coalesce(j.profile, ''),
       coalesce(j.cache_policy, ''), coalesce(j.rule_version, ''), count(*)
FROM experiment e LEFT JOIN judgement j ON j.experiment = e.id LEFT JOIN abandonment a ON a.experiment = e.id
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;

INSERT INTO facet_member (facet, experiment, speedup)
SELECT f.id, e.id, j.speedup
FROM experiment e LEFT JOIN judgement j ON j.experiment = e.id LEFT JOIN abandonment a ON a.experiment = e.id
JOIN facet f ON f.family = e.family AND f.workload_class = e.workload_class AND f.machine = e.machine
  AND f.state = CASE WHEN j.experiment IS NOT NULL THEN 'finished' WHEN a.id IS NOT NULL THEN 'abandoned' ELSE 'running' END
  AND f.outcome = coalesce(j.outcome, '') AND f.verdict = coalesce(j.verdict, '') AND f.reason = coalesce(j.reason, '')
  AND f.profile = coalesce(j.profile, '') AND f.cache_policy = coalesce(j.cache_policy, '')
  AND f.judge = coalesce(j.rule_version, '');

INSERT INTO experiment_span (block, earliest, latest)
SELECT id / 4096, min(started_at), max(started_at) FROM experiment GROUP BY 1;

INSERT INTO sentence_index (rowid, sentence)
SELECT e.id, coalesce(j.sentence, a.why)
FROM experiment e LEFT JOIN judgement j ON j.experiment = e.id LEFT JOIN abandonment a ON a.experiment = e.id
WHERE j.experiment IS NOT NULL OR a.id IS NOT NULL;

-- ---------------------------------------------------------------- not for stand-ins

-- What follows changes tables of older versions, so a reader of an older file does without (migrations.cpp).

CREATE TRIGGER facet_of_begun AFTER INSERT ON experiment
BEGIN
  INSERT INTO facet (family, workload_class, machine, state, outcome, verdict, reason, profile, cache_policy, judge, experiments)
  VALUES (NEW.family, NEW.workload_class, NEW.machine, 'running', '', '', '', '', '', '', 1)
  ON CONFLICT DO UPDATE SET experiments = experiments + 1;
  INSERT INTO facet_member (facet, experiment)
  SELECT id, NEW.id FROM facet WHERE family = NEW.family AND workload_class = NEW.workload_class
     AND machine = NEW.machine AND state = 'running' AND outcome = '';
END;

CREATE TRIGGER span_of_begun AFTER INSERT ON experiment
BEGIN
  INSERT INTO experiment_span (block, earliest, latest) VALUES (NEW.id / 4096, NEW.started_at, NEW.started_at)
  ON CONFLICT DO UPDATE SET earliest = min(earliest, NEW.started_at), latest = max(latest, NEW.started_at);
END;

CREATE TRIGGER facet_of_judged AFTER INSERT ON judgement
BEGIN
  DELETE FROM facet_member WHERE experiment = NEW.experiment AND facet =
    (SELECT f.id FROM experiment e JOIN facet f ON f.family = e.family AND f.workload_class = e.workload_class
      AND f.machine = e.machine AND f.state = 'running' WHERE e.id = NEW.experiment);
  UPDATE facet SET experiments = experiments - 1 WHERE id =
    (SELECT f.id FROM experiment e JOIN facet f ON f.family = e.family AND f.workload_class = e.workload_class
      AND f.machine = e.machine AND f.state = 'running' WHERE e.id = NEW.experiment);
  INSERT INTO facet (family, workload_class, machine, state, outcome, verdict, reason, profile, cache_policy, judge, experiments)
  SELECT family, workload_class, machine, 'finished', NEW.outcome, NEW.verdict, NEW.reason, NEW.profile, NEW.cache_policy,
         NEW.rule_version, 1 FROM experiment WHERE id = NEW.experiment
  ON CONFLICT DO UPDATE SET experiments = experiments + 1;
  INSERT INTO facet_member (facet, experiment, speedup)
  SELECT f.id, e.id, NEW.speedup FROM experiment e JOIN facet f ON f.family = e.family
     AND f.workload_class = e.workload_class AND f.machine = e.machine AND f.state = 'finished'
     AND f.outcome = NEW.outcome AND f.verdict = NEW.verdict AND f.reason = NEW.reason AND f.profile = NEW.profile
     AND f.cache_policy = NEW.cache_policy AND f.judge = NEW.rule_version
  WHERE e.id = NEW.experiment;
END;

CREATE TRIGGER facet_of_abandoned AFTER INSERT ON abandonment WHEN NEW.experiment IS NOT NULL
BEGIN
  DELETE FROM facet_member WHERE experiment = NEW.experiment AND facet =
    (SELECT f.id FROM experiment e JOIN facet f ON f.family = e.family AND f.workload_class = e.workload_class
      AND f.machine = e.machine AND f.state = 'running' WHERE e.id = NEW.experiment);
  UPDATE facet SET experiments = experiments - 1 WHERE id =
    (SELECT f.id FROM experiment e JOIN facet f ON f.family = e.family AND f.workload_class = e.workload_class
      AND f.machine = e.machine AND f.state = 'running' WHERE e.id = NEW.experiment);
  INSERT INTO facet (family, workload_class, machine, state, outcome, verdict, reason, profile, cache_policy, judge, experiments)
  SELECT family, workload_class, machine, 'abandoned', '', '', '', '', '', '', 1 FROM experiment WHERE id = NEW.experiment
  ON CONFLICT DO UPDATE SET experiments = experiments + 1;
  INSERT INTO facet_member (facet, experiment)
  SELECT f.id, e.id FROM experiment e JOIN facet f ON f.family = e.family AND f.workload_class = e.workload_class
     AND f.machine = e.machine AND f.state = 'abandoned' WHERE e.id = NEW.experiment;
END;

-- For predicates on numbers and texts with many values, and for orders by them.
CREATE INDEX experiment_incumbent ON experiment (incumbent);
CREATE INDEX experiment_index ON experiment (idx);
CREATE INDEX experiment_predicted_low ON experiment (predicted_low);
CREATE INDEX experiment_predicted_high ON experiment (predicted_high);
CREATE INDEX judgement_lower ON judgement (speedup_lower);
CREATE INDEX judgement_upper ON judgement (speedup_upper);
CREATE INDEX judgement_rounds ON judgement (rounds);
CREATE INDEX judgement_samples ON judgement (samples);
CREATE INDEX judgement_seconds ON judgement (seconds);
CREATE INDEX judgement_incumbent_ns ON judgement (incumbent_ns);
CREATE INDEX judgement_candidate_ns ON judgement (candidate_ns);
CREATE INDEX judgement_finished ON judgement (finished_at);
CREATE INDEX build_object ON build (object_hash);
CREATE INDEX bottleneck_name ON bottleneck (name);
CREATE INDEX bottleneck_place_kind ON bottleneck_place (kind);
CREATE INDEX bottleneck_place_file ON bottleneck_place (file);
CREATE INDEX bottleneck_place_line ON bottleneck_place (line);
