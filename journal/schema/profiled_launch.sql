-- The launches of a profile's call on a GPU, each by itself. NULL: the GPU did not tell.
CREATE TABLE IF NOT EXISTS profiled_launch (
  profile     INTEGER NOT NULL REFERENCES profile,
  position    INTEGER NOT NULL,  -- in the call, from 0
  kernel      TEXT NOT NULL,
  time_ns     REAL,
  bytes_moved REAL,              -- of DRAM, read and written
  occupancy   REAL,              -- active warps over those that an SM can hold
  issue       REAL,              -- share of the issue slots
  stall       TEXT NOT NULL,     -- what its warps mostly wait for; '' where nothing was sampled
  stall_share REAL,              -- of the kernel's samples
  PRIMARY KEY (profile, position)
) STRICT;
