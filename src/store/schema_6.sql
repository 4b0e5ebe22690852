-- Version 6: which file a metric comes from, and the epoch of every value.
ALTER TABLE metric ADD COLUMN epoch REAL;     -- may be a fraction; NULL: not known
CREATE TABLE metric_source (
  task INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,
  source TEXT NOT NULL,                       -- "csv:logs/train.csv"
  attempt INTEGER NOT NULL,                   -- the newest attempt that wrote it
  step_name TEXT NOT NULL,
  names TEXT NOT NULL,                        -- JSON map: column -> name of the metric; null: left out
  PRIMARY KEY (task, source)
) WITHOUT ROWID;
