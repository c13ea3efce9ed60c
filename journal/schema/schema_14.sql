-- journal/schema/schema_14.sql - version 14: jobs, the calls of `apo mcp` that judge or measure; the conventions are those of schema_1.sql.

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

-- ---------------------------------------------------------------- not for stand-ins

CREATE TRIGGER job_experiment_of_ended_job BEFORE INSERT ON job_experiment
WHEN EXISTS (SELECT 1 FROM job_end WHERE job = NEW.job)
BEGIN SELECT RAISE(ABORT, 'the job is over'); END;
