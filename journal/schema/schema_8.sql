-- journal/schema/schema_8.sql - version 8: whether the final incumbent changes the clock; the conventions are those of schema.sql.

-- What the segments of a certification say. No row: of before segments were taken. The numbers are NULL where `missing`
-- says why the clock could not be read. Effects are natural logs, of times, cycles and clocks.
CREATE TABLE certification_clock (
  certification INTEGER PRIMARY KEY REFERENCES certification,
  missing       TEXT NOT NULL,
  coupled       INTEGER NOT NULL CHECK (coupled IN (0, 1)),  -- time_effect is what may be quoted
  blocks        INTEGER NOT NULL,
  segment_s     REAL,
  confidence    REAL,   -- of both intervals
  time_effect   REAL,
  time_lower    REAL,
  time_upper    REAL,
  cycle_effect  REAL,
  clock_effect  REAL,   -- of the champion's clock over the baseline's
  clock_lower   REAL,
  clock_upper   REAL
) STRICT;

-- One arm alone for seconds, in the order in which they ran: of each workload blocks of four.
CREATE TABLE certification_segment (
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
