-- journal/schema/schema_4.sql - version 4: verdicts that were measured again.

-- Which experiments measure an older one again, and whether its confirmation alone or all of it. Written when the
-- measuring begins; whether it reproduces follows from the two judgements. The seeds of the original stay where they
-- are: in its rounds, and its campaign's in campaign_end.
CREATE TABLE replay (
  experiment INTEGER PRIMARY KEY REFERENCES experiment,
  original   INTEGER NOT NULL REFERENCES experiment,
  kind       TEXT NOT NULL CHECK (kind IN ('confirm', 'replay')),
  at         TEXT NOT NULL,
  CHECK (original < experiment)
) STRICT;
CREATE INDEX replay_original ON replay (original);
