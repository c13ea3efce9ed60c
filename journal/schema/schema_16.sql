-- journal/schema/schema_16.sql - version 16: workers that judge for a campaign, each on a device of its own; the conventions are those of schema_1.sql.

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
CREATE INDEX worker_machine ON worker (machine);

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

-- ---------------------------------------------------------------- not for stand-ins

CREATE TRIGGER placement_with_ended_worker BEFORE INSERT ON placement
WHEN EXISTS (SELECT 1 FROM worker_end WHERE worker = NEW.worker)
BEGIN SELECT RAISE(ABORT, 'the worker has ended'); END;
