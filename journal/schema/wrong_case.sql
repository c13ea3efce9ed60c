-- The call at which a gate found the candidate's output wrong: what is checked first when its code, or other code of the
-- family, is judged again.
CREATE TABLE IF NOT EXISTS wrong_case (
  experiment INTEGER PRIMARY KEY REFERENCES experiment,
  workload   TEXT NOT NULL,
  axes       TEXT NOT NULL,    -- JSON object
  regime     TEXT NOT NULL,
  seed       INTEGER NOT NULL  -- of the inputs; 0: secret, because later experiments get the same
) STRICT;
