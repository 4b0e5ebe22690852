-- Version 9: samples of what a task's processes and GPUs do. A task has a limited number: when there are more, pairs of
-- them are joined (samples.c).
CREATE TABLE sample (
  task INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,                       -- from 0, without gaps
  time_ms INTEGER NOT NULL,                   -- the end of what it covers
  weight INTEGER NOT NULL,                    -- how many samples were joined in it
  data BLOB NOT NULL,                         -- base/sample.h
  PRIMARY KEY (task, seq)
) WITHOUT ROWID;
