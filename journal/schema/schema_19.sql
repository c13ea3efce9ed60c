-- journal/schema/schema_19.sql - version 19: what nobody has written; the conventions are those of schema_1.sql.

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
