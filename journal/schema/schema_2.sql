-- journal/schema/schema_2.sql - version 2: profiles of whole applications; the conventions are those of schema.sql.

CREATE TABLE application_profile (
  id             INTEGER PRIMARY KEY,
  machine        INTEGER REFERENCES machine,  -- NULL for an import
  source         TEXT NOT NULL CHECK (source IN ('run', 'nsys', 'ncu')),
  command        TEXT NOT NULL,               -- or the imported file
  device         TEXT NOT NULL,               -- the GPU's name; '' when unknown
  exit_code      INTEGER,                     -- NULL for an import, and when a signal ended the command
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
CREATE INDEX application_work_name ON application_work (name);

-- A number of ncu's: the mean over the calls of a kernel.
CREATE TABLE application_metric (
  profile  INTEGER NOT NULL REFERENCES application_profile,
  position INTEGER NOT NULL,
  kernel   TEXT NOT NULL,
  name     TEXT NOT NULL,
  unit     TEXT NOT NULL,
  value    REAL,
  samples  INTEGER NOT NULL,
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
