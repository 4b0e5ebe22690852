-- Version 1. Times are milliseconds since 1970 UTC, NULL where unknown. JSON columns hold text.
CREATE TABLE experiment (
  id INTEGER PRIMARY KEY AUTOINCREMENT,   -- shown as e<id>; never given out again
  name TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  state INTEGER NOT NULL DEFAULT 0,       -- enum store_state, follows from the tasks
  created_ms INTEGER NOT NULL,
  started_ms INTEGER,
  finished_ms INTEGER,
  spec TEXT NOT NULL,                     -- JSON: the experiment, normalised
  source_name TEXT,                       -- the file as submitted
  source TEXT,
  parameters TEXT NOT NULL,               -- JSON: the "parameters" array of the REST detail
  varying TEXT NOT NULL,                  -- JSON: names of the parameters that vary
  objective TEXT NOT NULL,                -- JSON: [{"metric","goal"}]
  strategy TEXT NOT NULL,
  strategy_reason TEXT,
  seed INTEGER NOT NULL,
  planned INTEGER NOT NULL,               -- tasks in all
  parallel INTEGER NOT NULL DEFAULT 0,    -- 0: whatever fits
  backend TEXT NOT NULL,
  script TEXT,
  warnings TEXT NOT NULL DEFAULT '[]',    -- JSON
  step_name TEXT NOT NULL DEFAULT 'epoch',
  note TEXT,                              -- what the experiment is waiting for, in words
  asked_all INTEGER NOT NULL DEFAULT 0,   -- the search has nothing more to propose
  stopping INTEGER NOT NULL DEFAULT 0,    -- the user stopped it: propose nothing more
  removing INTEGER NOT NULL DEFAULT 0,    -- being removed: hidden, goes away once nothing runs
  best_task INTEGER,                      -- task.number
  batch_script TEXT                       -- as submitted
);
CREATE TABLE task (
  id INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiment(id) ON DELETE CASCADE,
  number INTEGER NOT NULL,                -- 1.. within the experiment
  state INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  cause TEXT,                             -- JSON map of the REST summary; NULL unless error
  parameters TEXT NOT NULL,               -- JSON map of the active values
  repeat INTEGER NOT NULL DEFAULT 1,
  seed INTEGER NOT NULL DEFAULT 0,
  fidelity REAL,
  asked INTEGER NOT NULL DEFAULT 0,       -- the search's id of what it is doing: its newest ask
  steps INTEGER,                          -- epochs planned, where known
  best REAL, best_step INTEGER,           -- of the first objective
  last REAL, last_step INTEGER,
  step INTEGER,                           -- the newest step of any metric
  from_zero INTEGER NOT NULL DEFAULT 0,   -- its steps begin at 0, so that step 39 is the fortieth
  attempt INTEGER NOT NULL DEFAULT 0,     -- number of the newest attempt; 0: none yet
  wanted INTEGER NOT NULL DEFAULT 0,      -- enum store_wish: 0 run, 1 stop, 2 prune
  fresh INTEGER NOT NULL DEFAULT 0,       -- the next attempt starts from scratch
  retries TEXT NOT NULL DEFAULT '{}',     -- JSON: how often each cause was retried
  not_before_ms INTEGER NOT NULL DEFAULT 0, -- do not submit earlier (back-off)
  created_ms INTEGER NOT NULL,
  submitted_ms INTEGER, started_ms INTEGER, finished_ms INTEGER,
  node TEXT, gpus TEXT, job TEXT, expected_start_ms INTEGER,
  wall_ms INTEGER, cpu_ms INTEGER, gpu_ms INTEGER, max_rss INTEGER, energy_j REAL, energy_source TEXT,
  UNIQUE (experiment, number)
);
CREATE INDEX task_by_state ON task (experiment, state);
CREATE INDEX task_by_asked ON task (experiment, asked);
CREATE TABLE batch (
  token TEXT PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiment(id) ON DELETE CASCADE,
  backend TEXT NOT NULL,
  state INTEGER NOT NULL DEFAULT 0,       -- 0 submitting, 1 submitted, 2 over
  job TEXT,
  parallel INTEGER NOT NULL DEFAULT 0,
  created_ms INTEGER NOT NULL,
  absent_ms INTEGER,                      -- first successful lookup that did not find it
  resubmits INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  token TEXT NOT NULL,
  idx INTEGER NOT NULL,
  state INTEGER NOT NULL DEFAULT 1,       -- enum store_state
  cause TEXT,                             -- JSON
  journal_offset INTEGER NOT NULL DEFAULT 0,
  created_ms INTEGER NOT NULL,
  submitted_ms INTEGER, started_ms INTEGER, finished_ms INTEGER,
  node TEXT, gpus TEXT, job TEXT, exit_code INTEGER, signal INTEGER,
  ended TEXT,                             -- JSON: its END record, while it waits to be settled
  wall_ms INTEGER, cpu_ms INTEGER, gpu_ms INTEGER, max_rss INTEGER, energy_j REAL, energy_source TEXT,
  UNIQUE (task, number),
  UNIQUE (token, idx)
);
CREATE INDEX attempt_live ON attempt (state) WHERE state IN (1, 2);
CREATE TABLE metric_name (
  id INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiment(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  UNIQUE (experiment, name)
);
CREATE TABLE metric (
  task INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,
  name INTEGER NOT NULL,                  -- metric_name.id
  step INTEGER NOT NULL,
  value REAL,                             -- NULL is NaN
  time_ms INTEGER NOT NULL,
  PRIMARY KEY (task, name, step)
) WITHOUT ROWID;
CREATE TABLE history (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,
  time_ms INTEGER NOT NULL,
  state INTEGER NOT NULL,
  reason TEXT
);
CREATE INDEX history_by_task ON history (task);
CREATE TABLE search_event (                -- what was asked and told, in order: replayed after a restart
  experiment INTEGER NOT NULL REFERENCES experiment(id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  kind INTEGER NOT NULL,                  -- 0 ask, 1 tell, 2 somebody else's configuration, 3 new settings
  asked INTEGER NOT NULL,                 -- the search's id, ascending with the asks
  outcome INTEGER,                        -- enum search_outcome of a tell
  value TEXT,                             -- JSON: the objectives' values of a tell, the configuration of an ask
  PRIMARY KEY (experiment, seq)
) WITHOUT ROWID;
CREATE TABLE access_token (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  created_ms INTEGER NOT NULL,
  used_ms INTEGER
);
CREATE TABLE session (
  hash TEXT PRIMARY KEY,                  -- not used any more: sessions live in memory
  csrf TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE idempotency (
  key TEXT PRIMARY KEY,
  body_hash TEXT NOT NULL,
  experiment INTEGER NOT NULL,
  created_ms INTEGER NOT NULL
) WITHOUT ROWID;
