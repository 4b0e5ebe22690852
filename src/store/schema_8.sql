-- Version 8: what attempts ran, once for all that ran the same.
CREATE TABLE ran (
  id INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiment(id) ON DELETE CASCADE,
  digest TEXT NOT NULL,                       -- of the content
  content TEXT NOT NULL,                      -- JSON, as the runner wrote it
  UNIQUE (experiment, digest)
);
ALTER TABLE attempt ADD COLUMN ran TEXT;      -- the digest; NULL: not known
