-- journal/schema/schema_3.sql - version 3: PC samples of a GPU, the lines that they fall on, and how counters were read.
--
-- Only whole new tables: who reads a file of an older version sees them empty (migrations.cpp).

CREATE TABLE profile_condition (
  profile    INTEGER PRIMARY KEY REFERENCES profile,
  conditions TEXT NOT NULL  -- state of the caches, passes
) STRICT;

-- Warps that were found at one instruction in one state; the most frequent first.
CREATE TABLE stall_sample (
  profile   INTEGER NOT NULL REFERENCES profile,
  position  INTEGER NOT NULL,
  kernel    TEXT NOT NULL,
  pc_offset INTEGER NOT NULL,  -- bytes from the kernel's begin
  file      TEXT NOT NULL,     -- without its folder; '' where the cubin has no line
  line      INTEGER NOT NULL,
  stall     TEXT NOT NULL,
  samples   INTEGER NOT NULL,
  PRIMARY KEY (profile, position)
) STRICT, WITHOUT ROWID;

-- The text of the lines of the samples.
CREATE TABLE source_line (
  profile INTEGER NOT NULL REFERENCES profile,
  file    TEXT NOT NULL,
  line    INTEGER NOT NULL,
  text    TEXT NOT NULL,
  PRIMARY KEY (profile, file, line)
) STRICT, WITHOUT ROWID;
