-- journal/schema/schema_7.sql - version 7: the NVTX ranges of whole applications; the conventions are those of schema.sql.

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
CREATE INDEX application_range_name ON application_range (name);

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
