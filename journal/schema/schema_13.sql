-- journal/schema/schema_13.sql - version 13: what proposers answered; the conventions are those of schema.sql.

-- One run of a proposer, before the candidates of its iteration are judged. Costs are as it reports them.
CREATE TABLE proposer_call (
  id        INTEGER PRIMARY KEY,
  iteration INTEGER NOT NULL REFERENCES iteration,
  command   TEXT NOT NULL,
  outcome   TEXT NOT NULL,  -- 'answered', 'failed', 'timed_out', 'flooded'
  note      TEXT NOT NULL,
  seconds   REAL NOT NULL,
  tokens    REAL,
  usd       REAL,
  reported_seconds REAL,
  at        TEXT NOT NULL
) STRICT;
CREATE INDEX proposer_call_iteration ON proposer_call (iteration);

CREATE TABLE proposal (
  call          INTEGER NOT NULL REFERENCES proposer_call,
  position      INTEGER NOT NULL,
  author        TEXT NOT NULL,
  configuration INTEGER REFERENCES configuration,  -- NULL: it could not be read as a candidate
  idea          TEXT NOT NULL,
  predicted_low     REAL,                          -- as its author made it, over the parent
  predicted_high    REAL,
  predicted_because TEXT NOT NULL,
  state         TEXT NOT NULL,  -- 'taken', 'repeated', 'refused'
  why           TEXT NOT NULL,
  tokens        REAL,
  usd           REAL,
  seconds       REAL,
  PRIMARY KEY (call, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX proposal_configuration ON proposal (configuration);
