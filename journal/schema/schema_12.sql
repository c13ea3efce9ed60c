-- journal/schema/schema_12.sql - version 12: how far outputs were off; the conventions are those of schema.sql.

-- Of the gate correctness: the candidate's outputs against the reference on one workload, over all calls.
CREATE TABLE output_error (
  experiment   INTEGER NOT NULL REFERENCES experiment,
  workload     TEXT NOT NULL,
  max_absolute REAL NOT NULL,  -- of the finite elements
  max_relative REAL NOT NULL,  -- to max(|reference|, 0.01)
  has_nan      INTEGER NOT NULL CHECK (has_nan IN (0, 1)),
  has_inf      INTEGER NOT NULL CHECK (has_inf IN (0, 1)),
  PRIMARY KEY (experiment, workload)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- not for stand-ins

CREATE TRIGGER output_error_of_open_experiment BEFORE INSERT ON output_error
WHEN EXISTS (SELECT 1 FROM judgement WHERE experiment = NEW.experiment)
  OR EXISTS (SELECT 1 FROM abandonment WHERE experiment = NEW.experiment)
BEGIN SELECT RAISE(ABORT, 'the experiment is over'); END;
