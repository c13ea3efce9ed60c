-- Coarse measurements of configurations beside an incumbent, which rank candidates: no verdicts. Of a configuration in
-- one place the newest row counts.
CREATE TABLE IF NOT EXISTS scanned (
  id               INTEGER PRIMARY KEY,
  machine          INTEGER NOT NULL REFERENCES machine,
  family           TEXT NOT NULL,
  workload         TEXT NOT NULL,
  cache_policy     TEXT NOT NULL,
  configuration    INTEGER NOT NULL REFERENCES configuration,
  source_hash      TEXT NOT NULL REFERENCES variant,
  incumbent        INTEGER NOT NULL REFERENCES configuration,
  incumbent_source TEXT NOT NULL REFERENCES variant,
  build_key        TEXT NOT NULL,     -- '': it was not built
  resources        TEXT NOT NULL,     -- JSON object: registers, spills, text_bytes, ...
  level            INTEGER NOT NULL,  -- 0; leaders are measured again with more calls, at 1 and 2
  outcome          TEXT NOT NULL,     -- 'valid', or why it is out
  evidence         TEXT NOT NULL,
  pairs            INTEGER NOT NULL,  -- of calls that were timed
  time_ns          REAL,              -- of a call: medians
  incumbent_ns     REAL,
  effect           REAL,              -- median of ln(time(incumbent) / time(configuration)) of the pairs
  sd               REAL,              -- of the effect
  seconds          REAL NOT NULL,     -- of its build and its calls
  at               TEXT NOT NULL,
  CHECK ((outcome = 'valid') = (effect IS NOT NULL))
) STRICT;
