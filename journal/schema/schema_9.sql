-- journal/schema/schema_9.sql - version 9: the headers of variants; the conventions are those of schema.sql.

-- The files of a variant that includes headers. Its source_hash is then the address of their manifest, one line
-- 'SHA256  NAME' a file as sha256sum prints it. No row: the variant is one file, whose address is its source_hash.
CREATE TABLE variant_file (
  source_hash TEXT NOT NULL REFERENCES variant,
  position    INTEGER NOT NULL,  -- 0: the variant's own file; the headers follow by name
  name        TEXT NOT NULL,     -- as it is included; '-': the variant's own file
  file        TEXT NOT NULL REFERENCES blob,
  PRIMARY KEY (source_hash, position),
  UNIQUE (source_hash, name)
) STRICT, WITHOUT ROWID;
