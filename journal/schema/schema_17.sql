-- journal/schema/schema_17.sql - version 17: journals that people kept by hand; the conventions are those of schema_1.sql.
--
-- No judge of ours had a part in these rows, so that they stand apart: no view of experiments, lessons or incumbents reads them.

-- One import of a table. A later one of the same title replaces it.
CREATE TABLE hand_kept_journal (
  id     INTEGER PRIMARY KEY,
  title  TEXT NOT NULL,  -- of the document
  sha256 TEXT NOT NULL,  -- of the table's text
  at     TEXT NOT NULL
) STRICT;
CREATE INDEX hand_kept_journal_title ON hand_kept_journal (title);

-- As the document says it; '' and NULL are what it does not say. A number is low and high, which are equal unless a range is written, and its text.
CREATE TABLE hand_kept_row (
  journal         INTEGER NOT NULL REFERENCES hand_kept_journal,
  position        INTEGER NOT NULL,
  line            INTEGER NOT NULL CHECK (line > 0),  -- of the document
  date            TEXT NOT NULL,
  device_claimed  TEXT NOT NULL,
  device_deduced  TEXT NOT NULL,
  target          TEXT NOT NULL CHECK (target IN ('', 'host', 'cuda')),
  scope           TEXT NOT NULL CHECK (scope IN ('', 'kernel', 'layer', 'step')),
  subject         TEXT NOT NULL,  -- the name of a family where it is one
  axes            TEXT NOT NULL,  -- JSON: name -> size
  techniques      TEXT NOT NULL,  -- JSON list
  joint           INTEGER NOT NULL CHECK (joint IN (0, 1)),
  baseline        TEXT NOT NULL,
  quantity        TEXT NOT NULL,
  unit            TEXT NOT NULL,
  before_low      REAL,
  before_high     REAL,
  before_text     TEXT NOT NULL,
  after_low       REAL,
  after_high      REAL,
  after_text      TEXT NOT NULL,
  change_low      REAL,           -- in its own unit, which the text ends with
  change_high     REAL,
  change_text     TEXT NOT NULL,
  predicted_low   REAL,
  predicted_high  REAL,
  predicted_text  TEXT NOT NULL,
  predicted_scope TEXT NOT NULL CHECK (predicted_scope IN ('', 'kernel', 'layer', 'step')),
  samples         INTEGER,
  warm_up         TEXT NOT NULL,
  verdict         TEXT NOT NULL CHECK (verdict IN ('', 'accepted', 'reverted', 'inconclusive')),
  in_code         INTEGER CHECK (in_code IN (0, 1)),
  superseded_by   INTEGER,        -- a line of the document
  note            TEXT NOT NULL,
  effect_low      REAL,           -- log of the measured speed-up that all this says
  effect_high     REAL,
  speedup         REAL,           -- exp of the middle
  PRIMARY KEY (journal, position)
) STRICT, WITHOUT ROWID;

-- Of the newest import of each document.
CREATE VIEW hand_kept AS
SELECT j.title AS document, r.line, r.date, r.subject, r.scope, r.axes, r.techniques, r.joint, r.baseline, r.quantity,
       r.unit, r.before_text AS before, r.after_text AS after, r.change_text AS change, r.speedup,
       r.predicted_text AS predicted, r.predicted_scope, r.samples, r.warm_up, nullif(r.verdict, '') AS verdict, r.in_code,
       r.superseded_by, r.device_claimed, r.device_deduced, nullif(r.target, '') AS target, r.note, j.at AS imported_at
FROM hand_kept_row r
JOIN hand_kept_journal j ON j.id = r.journal
WHERE j.id = (SELECT max(newer.id) FROM hand_kept_journal newer WHERE newer.title = j.title);
