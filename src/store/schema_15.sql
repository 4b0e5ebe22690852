-- Version 15: how many tasks of a script share a GPU of a model, as it was measured (`share: auto`).
CREATE TABLE sharing (
  script TEXT NOT NULL,                       -- digest of the script (or the command) and of the parameters
  gpu TEXT NOT NULL,                          -- the model
  measured TEXT NOT NULL,                     -- JSON: model/sharing.h
  updated_ms INTEGER NOT NULL,
  PRIMARY KEY (script, gpu)
) WITHOUT ROWID;
-- Attempts that were not the last of their task are found by this: what repeating cost.
CREATE INDEX attempt_repeated ON attempt (task) WHERE number > 1;
