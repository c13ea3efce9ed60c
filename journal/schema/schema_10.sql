-- journal/schema/schema_10.sql - version 10: sources of predictions, kinds of left-out candidates; the conventions are those of schema.sql.

-- Where the prediction of an experiment comes from.
CREATE TABLE experiment_prediction (
  experiment INTEGER PRIMARY KEY REFERENCES experiment,
  source     TEXT NOT NULL CHECK (source IN ('idea', 'measurements', 'nothing'))
) STRICT;

-- More of a row of ranking.
CREATE TABLE ranking_kind (
  iteration         INTEGER NOT NULL,
  left_out          INTEGER NOT NULL,
  position          INTEGER NOT NULL,
  prediction_source TEXT CHECK (prediction_source IN ('idea', 'measurements', 'nothing')),  -- NULL for a left-out candidate
  left_out_kind     TEXT CHECK (left_out_kind IN ('other_target', 'unsupported', 'incumbent', 'below_resolution', 'refuted', 'unknown')),
  PRIMARY KEY (iteration, left_out, position),
  FOREIGN KEY (iteration, left_out, position) REFERENCES ranking,
  CHECK ((left_out = 0) = (prediction_source IS NOT NULL)),
  CHECK ((left_out = 1) = (left_out_kind IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- Older versions kept both in words only.
INSERT INTO experiment_prediction (experiment, source)
SELECT id, iif(predicted_because GLOB 'measured: *', 'measurements', 'idea') FROM experiment;

INSERT INTO ranking_kind (iteration, left_out, position, prediction_source, left_out_kind)
SELECT iteration, left_out, position,
       CASE left_out WHEN 0 THEN iif(predicted_because GLOB 'measured: *', 'measurements', 'idea') END,
       CASE WHEN left_out = 0 THEN NULL
            WHEN why GLOB 'unsupported: its target is *' THEN 'other_target'
            WHEN why GLOB 'unsupported: *' THEN 'unsupported'
            WHEN why GLOB 'identical to the incumbent*' THEN 'incumbent'
            WHEN why GLOB 'predicted *this machine resolves*' THEN 'below_resolution'
            WHEN why GLOB 'refuted *' THEN 'refuted'
            ELSE 'unknown' END
FROM ranking;
