-- journal/schema/schema_18.sql - version 18: why a selftest's comparison ended as it did; the conventions are those of schema_1.sql.

-- Of comparisons that are older there is no row.
CREATE TABLE selftest_evidence (
  comparison   INTEGER PRIMARY KEY REFERENCES selftest_comparison,
  sentence     TEXT NOT NULL,     -- of the judgement: what a guard objected to
  calls        INTEGER NOT NULL,  -- in a sample; on a host in a window
  blocks       INTEGER NOT NULL,  -- in a round
  several_cpus INTEGER NOT NULL CHECK (several_cpus IN (0, 1))  -- on a host both arms had all CPUs, else one
) STRICT;
