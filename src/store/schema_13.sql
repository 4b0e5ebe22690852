-- Version 13: messages that leave the machine, by webhook and mail. They are written with the event itself, and kept
-- until they are delivered.
CREATE TABLE notify_setting (
  name TEXT PRIMARY KEY, -- webhook, mail, events
  value TEXT NOT NULL
);
CREATE TABLE notify_message (
  id INTEGER PRIMARY KEY,
  token TEXT NOT NULL,             -- the same in every try: receivers can leave out what they have already
  channel TEXT NOT NULL,           -- webhook, mail
  kind TEXT NOT NULL,              -- end, pause, stall, test
  experiment INTEGER,              -- NULL: a test
  task INTEGER,                    -- the number of the task; NULL: it is about the experiment
  many INTEGER NOT NULL DEFAULT 1, -- how many tasks, where several stalled
  summary TEXT,                    -- JSON: the experiment at that time
  text TEXT NOT NULL,              -- what happened, for people
  created_ms INTEGER NOT NULL,
  due_ms INTEGER NOT NULL,         -- not before this time
  tries INTEGER NOT NULL DEFAULT 0,
  state INTEGER NOT NULL DEFAULT 0, -- 0 waits, 1 delivered, 2 given up
  ended_ms INTEGER,                -- of the last try
  error TEXT                       -- of the last try
);
CREATE INDEX notify_message_waiting ON notify_message (channel, state, tries, id);
