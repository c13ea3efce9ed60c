-- The worker that measured a row of scanned. One without was measured by its driver's own process.
CREATE TABLE IF NOT EXISTS scanned_by (
  scanned INTEGER PRIMARY KEY REFERENCES scanned,
  worker  INTEGER NOT NULL REFERENCES worker
) STRICT;
