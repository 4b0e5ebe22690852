PRAGMA user_version=3;
BEGIN TRANSACTION;
CREATE TABLE access_token (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  created_ms INTEGER NOT NULL,
  used_ms INTEGER
);
INSERT INTO "access_token" VALUES(1,'notebook','8127cd8bdd0b77c27f5ae37ffecf170687dccffa18001b8ef3c552540e084268',1794873250732,NULL);
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
INSERT INTO "attempt" VALUES(1,1,1,'fdd421750131bbaf43ee2fcd12da0861',0,3,NULL,836,1794873237551,1794873237551,1794873237581,1794873238544,'vm',NULL,NULL,0,NULL,'{"exit_code":0,"signal":0,"cause":"ok","message":"finished","tail":null}',961,164,0,14458880,NULL,NULL);
INSERT INTO "attempt" VALUES(2,2,1,'fdd421750131bbaf43ee2fcd12da0861',1,4,'{"kind":"exit","code":1,"signal":null,"text":"exit code 1","remedy":"see the error output","tail":"about to fail\nValueError: broken on purpose\n"}',897,1794873237551,1794873237551,1794873237605,1794873238528,'vm',NULL,NULL,1,NULL,'{"exit_code":1,"signal":0,"cause":"exit","message":"exit code 1","tail":"about to fail\nValueError: broken on purpose\n"}',920,169,0,14458880,NULL,NULL);
INSERT INTO "attempt" VALUES(3,3,1,'2f77097b70895160160ac179e9969881',0,5,NULL,821,1794873238528,1794873238528,1794873238545,1794873239774,'vm',NULL,NULL,NULL,15,'{"exit_code":-1,"signal":15,"cause":"stopped","message":"stopped","tail":""}',1227,156,0,14196736,NULL,NULL);
INSERT INTO "attempt" VALUES(4,4,1,'a5934f4b0b4e48000a11c1e60b130de4',0,3,NULL,837,1794873238544,1794873238544,1794873238580,1794873239578,'vm',NULL,NULL,0,NULL,'{"exit_code":0,"signal":0,"cause":"ok","message":"finished","tail":null}',1008,162,0,14426112,NULL,NULL);
INSERT INTO "attempt" VALUES(5,1,2,'21fb6b4b3842b5c7a380a2bfcf0f49de',0,3,NULL,837,1794873239794,1794873239794,1794873239847,1794873241134,'vm',NULL,NULL,0,NULL,'{"exit_code":0,"signal":0,"cause":"ok","message":"finished","tail":null}',1286,185,0,14241792,NULL,NULL);
INSERT INTO "attempt" VALUES(6,2,2,'a425d5b935a731bf705b0880d9cb607e',0,4,'{"kind":"exit","code":1,"signal":null,"text":"exit code 1","remedy":"see the error output","tail":"about to fail\nValueError: broken on purpose\n"}',898,1794873241246,1794873241246,1794873241310,1794873242923,'vm',NULL,NULL,1,NULL,'{"exit_code":1,"signal":0,"cause":"exit","message":"exit code 1","tail":"about to fail\nValueError: broken on purpose\n"}',1558,164,0,14454784,NULL,NULL);
INSERT INTO "attempt" VALUES(7,5,1,'486c95bcde908764100d4839159001bf',0,3,NULL,743,1794873242965,1794873242965,1794873243039,1794873244801,'vm',NULL,NULL,0,NULL,'{"exit_code":0,"signal":0,"cause":"ok","message":"finished","tail":null}',1762,167,0,14524416,NULL,NULL);
INSERT INTO "attempt" VALUES(8,6,1,'0b57c0d1d2a23daf2640456118991073',0,3,NULL,715,1794873244802,1794873244802,1794873244882,1794873245996,'vm',NULL,NULL,0,NULL,'{"exit_code":0,"signal":0,"cause":"ok","message":"finished","tail":null}',1117,155,0,14364672,NULL,NULL);
INSERT INTO "attempt" VALUES(9,8,1,'aa81ab6b87cd0165baa2687c24a51164',0,3,NULL,738,1794873245996,1794873245996,1794873246021,1794873246735,'vm',NULL,NULL,0,NULL,'{"exit_code":0,"signal":0,"cause":"ok","message":"finished","tail":null}',713,162,0,14446592,NULL,NULL);
INSERT INTO "attempt" VALUES(10,9,1,'fcfd607de49b029b178f446157774565',0,3,NULL,738,1794873246735,1794873246735,1794873246817,1794873247420,'vm',NULL,NULL,0,NULL,'{"exit_code":0,"signal":0,"cause":"ok","message":"finished","tail":null}',601,169,0,14368768,NULL,NULL);
INSERT INTO "attempt" VALUES(11,10,1,'42e20a357b5abd09c4701287aac3dce6',0,3,NULL,740,1794873247420,1794873247420,1794873247441,1794873248016,'vm',NULL,NULL,0,NULL,'{"exit_code":0,"signal":0,"cause":"ok","message":"finished","tail":null}',571,157,0,14327808,NULL,NULL);
INSERT INTO "attempt" VALUES(12,11,1,'eeb827381f1314eac339ce802ed02626',0,3,NULL,742,1794873248017,1794873248017,1794873248044,1794873249091,'vm',NULL,NULL,0,NULL,'{"exit_code":0,"signal":0,"cause":"ok","message":"finished","tail":null}',1046,161,0,14311424,NULL,NULL);
INSERT INTO "attempt" VALUES(13,12,1,'3e8582ba6135bc4b7c96935c2bffeaeb',0,3,NULL,0,1794873249237,1794873249237,1794873249237,1794873249513,'vm',NULL,NULL,0,NULL,'{"exit_code":0,"signal":0,"cause":"ok","message":null,"tail":null}',276,NULL,0,NULL,NULL,NULL);
INSERT INTO "attempt" VALUES(14,13,1,'bb78bc011fea723da5e2ab5d29bc0e25',0,4,'{"kind":"exit","code":1,"signal":null,"text":"no luck","remedy":"see the error output","tail":null}',0,1794873249242,1794873249242,1794873249242,1794873249521,'vm',NULL,NULL,1,NULL,'{"exit_code":1,"signal":0,"cause":"exit","message":"no luck","tail":null}',279,NULL,0,NULL,NULL,NULL);
INSERT INTO "attempt" VALUES(15,14,1,'8cc93f8c4a465b02e8fc5d0e00fe0175',0,2,NULL,0,1794873249259,1794873249259,1794873249259,NULL,'vm',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "attempt" VALUES(16,15,1,'a72028136b9ef8f7dcb94d95ca30fc17',0,2,NULL,189,1794873249536,1794873249536,1794873249558,NULL,'vm',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO "batch" VALUES('0b57c0d1d2a23daf2640456118991073',2,'local',1,NULL,1,1794873244802,NULL,0);
INSERT INTO "batch" VALUES('21fb6b4b3842b5c7a380a2bfcf0f49de',1,'local',1,NULL,4,1794873239794,NULL,0);
INSERT INTO "batch" VALUES('2f77097b70895160160ac179e9969881',1,'local',1,NULL,4,1794873238528,NULL,0);
INSERT INTO "batch" VALUES('3e8582ba6135bc4b7c96935c2bffeaeb',3,'external',1,NULL,0,1794873249237,NULL,0);
INSERT INTO "batch" VALUES('42e20a357b5abd09c4701287aac3dce6',2,'local',1,NULL,1,1794873247420,NULL,0);
INSERT INTO "batch" VALUES('486c95bcde908764100d4839159001bf',2,'local',1,NULL,1,1794873242965,NULL,0);
INSERT INTO "batch" VALUES('8cc93f8c4a465b02e8fc5d0e00fe0175',3,'external',1,NULL,0,1794873249259,NULL,0);
INSERT INTO "batch" VALUES('a425d5b935a731bf705b0880d9cb607e',1,'local',1,NULL,4,1794873241232,NULL,0);
INSERT INTO "batch" VALUES('a5934f4b0b4e48000a11c1e60b130de4',1,'local',1,NULL,4,1794873238544,NULL,0);
INSERT INTO "batch" VALUES('a72028136b9ef8f7dcb94d95ca30fc17',4,'local',1,NULL,1,1794873249536,NULL,0);
INSERT INTO "batch" VALUES('aa81ab6b87cd0165baa2687c24a51164',2,'local',1,NULL,1,1794873245996,NULL,0);
INSERT INTO "batch" VALUES('bb78bc011fea723da5e2ab5d29bc0e25',3,'external',1,NULL,0,1794873249242,NULL,0);
INSERT INTO "batch" VALUES('eeb827381f1314eac339ce802ed02626',2,'local',1,NULL,1,1794873248017,NULL,0);
INSERT INTO "batch" VALUES('fcfd607de49b029b178f446157774565',2,'local',1,NULL,1,1794873246735,NULL,0);
INSERT INTO "batch" VALUES('fdd421750131bbaf43ee2fcd12da0861',1,'local',1,NULL,4,1794873237551,NULL,0);
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
, sweep INTEGER NOT NULL DEFAULT 0, sweep_from INTEGER NOT NULL DEFAULT 0, sweep_ms INTEGER NOT NULL DEFAULT 0);
INSERT INTO "experiment" VALUES(1,'a grid','four ends',3,1794873237539,1794873237581,1794873242923,'{"name":"a grid","script":"train.py","description":"four ends","repeats":1,"parameters":{"mode":["good","bad","long","late"],"lr":0.1,"epochs":4},"search":{"strategy":"grid","parallel":4},"objective":{"metric":"val_loss","goal":"min"},"environment":{"vars":{"TRIED":"yes"}}}',NULL,NULL,'[{"name":"mode","kind":"choice","values":["good","bad","long","late"],"default":null,"when":null},{"name":"lr","kind":"constant","values":[0.1],"default":null,"when":null},{"name":"epochs","kind":"constant","values":[4],"default":null,"when":null}]','["mode"]','[{"metric":"val_loss","goal":"min"}]','grid',NULL,0,4,4,'local','train.py','[]','epoch',NULL,1,0,0,1,'#!/bin/sh
# 4 tasks on this machine, up to 2 at a time.
# Each: 1 CPU.
# What sluice does here amounts to:
seq 0 3 | xargs -P 2 -I INDEX sluice exec "$BATCH" INDEX
',0,0,0);
INSERT INTO "experiment" VALUES(2,'a search','',3,1794873242963,1794873243014,1794873249091,'{"name":"a search","script":"script.py","parameters":{"lr":{"min":0.001,"max":1,"scale":"log"},"epochs":3},"search":{"strategy":"tpe","tasks":5,"parallel":1,"seed":7},"objective":{"metric":"val_loss","goal":"min"}}',NULL,NULL,'[{"name":"lr","kind":"range","values":null,"min":0.001,"max":1,"scale":"log","step":null,"points":null,"integer":false,"default":null,"when":null},{"name":"epochs","kind":"constant","values":[3],"default":null,"when":null}]','["lr"]','[{"metric":"val_loss","goal":"min"}]','tpe',NULL,7,7,1,'local','script.py','[]','epoch',NULL,1,0,0,1,'#!/bin/sh
# 5 tasks on this machine, up to 1 at a time.
# Each: 1 CPU.
# What sluice does here amounts to:
seq 0 4 | xargs -P 1 -I INDEX sluice exec "$BATCH" INDEX
',0,0,0);
INSERT INTO "experiment" VALUES(3,'by hand','',2,1794873249235,1794873249237,NULL,'{"name":"by hand","parameters":{"x":[1,2,3,4]},"search":{"strategy":"grid"},"resources":{"backend":"external"},"objective":{"metric":"score","goal":"max"}}',NULL,NULL,'[{"name":"x","kind":"choice","values":[1,2,3,4],"default":null,"when":null}]','["x"]','[{"metric":"score","goal":"max"}]','grid',NULL,0,4,0,'external',NULL,'[]','step',NULL,0,0,0,1,'# Nothing is started. Workers of your own take tasks and give results:
#   sluice ask ID            prints a task and its parameters
#   sluice tell ID/TASK val_loss=0.31
',0,0,0);
INSERT INTO "experiment" VALUES(4,'cut off','',2,1794873249530,1794873249558,NULL,'{"name":"cut off","script":"script.py","parameters":{"x":[1,2]},"search":{"strategy":"grid","parallel":1}}',NULL,NULL,'[{"name":"x","kind":"choice","values":[1,2],"default":null,"when":null}]','["x"]','[]','grid',NULL,0,2,1,'local','script.py','["no objective is set: val_loss, or else the first metric that appears, is taken"]','epoch','waits for another task of its experiment to end: parallel is 1',1,0,0,NULL,'#!/bin/sh
# 2 tasks on this machine, up to 1 at a time.
# Each: 1 CPU.
# What sluice does here amounts to:
seq 0 1 | xargs -P 1 -I INDEX sluice exec "$BATCH" INDEX
',0,0,0);
CREATE TABLE history (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,
  time_ms INTEGER NOT NULL,
  state INTEGER NOT NULL,
  reason TEXT
);
INSERT INTO "history" VALUES(1,1,1794873237550,0,NULL);
INSERT INTO "history" VALUES(2,2,1794873237550,0,NULL);
INSERT INTO "history" VALUES(3,3,1794873237550,0,NULL);
INSERT INTO "history" VALUES(4,4,1794873237550,0,NULL);
INSERT INTO "history" VALUES(5,1,1794873237551,1,NULL);
INSERT INTO "history" VALUES(6,2,1794873237551,1,NULL);
INSERT INTO "history" VALUES(7,1,1794873237596,2,NULL);
INSERT INTO "history" VALUES(8,2,1794873237746,2,NULL);
INSERT INTO "history" VALUES(9,2,1794873238528,4,'exit code 1');
INSERT INTO "history" VALUES(10,3,1794873238528,1,NULL);
INSERT INTO "history" VALUES(11,1,1794873238544,3,NULL);
INSERT INTO "history" VALUES(12,4,1794873238544,1,NULL);
INSERT INTO "history" VALUES(13,3,1794873238563,2,NULL);
INSERT INTO "history" VALUES(14,4,1794873238714,2,NULL);
INSERT INTO "history" VALUES(15,4,1794873239578,3,NULL);
INSERT INTO "history" VALUES(16,3,1794873239770,2,'asked to stop: ending the script');
INSERT INTO "history" VALUES(17,3,1794873239774,5,'stopped by the user');
INSERT INTO "history" VALUES(18,1,1794873239785,0,'restarted by the user');
INSERT INTO "history" VALUES(19,1,1794873239794,1,NULL);
INSERT INTO "history" VALUES(20,1,1794873239967,2,NULL);
INSERT INTO "history" VALUES(21,1,1794873241135,3,NULL);
INSERT INTO "history" VALUES(22,2,1794873241229,0,'restarted by the user');
INSERT INTO "history" VALUES(23,2,1794873241246,1,NULL);
INSERT INTO "history" VALUES(24,2,1794873241415,2,NULL);
INSERT INTO "history" VALUES(25,2,1794873242923,4,'exit code 1');
INSERT INTO "history" VALUES(26,5,1794873242965,0,NULL);
INSERT INTO "history" VALUES(27,5,1794873242965,1,NULL);
INSERT INTO "history" VALUES(28,6,1794873243000,0,NULL);
INSERT INTO "history" VALUES(29,7,1794873243014,0,NULL);
INSERT INTO "history" VALUES(30,7,1794873243014,3,'imported');
INSERT INTO "history" VALUES(31,5,1794873243195,2,NULL);
INSERT INTO "history" VALUES(32,5,1794873244801,3,NULL);
INSERT INTO "history" VALUES(33,6,1794873244802,1,NULL);
INSERT INTO "history" VALUES(34,6,1794873245034,2,NULL);
INSERT INTO "history" VALUES(35,6,1794873245996,3,NULL);
INSERT INTO "history" VALUES(36,8,1794873245996,0,NULL);
INSERT INTO "history" VALUES(37,8,1794873245996,1,NULL);
INSERT INTO "history" VALUES(38,8,1794873246166,2,NULL);
INSERT INTO "history" VALUES(39,8,1794873246735,3,NULL);
INSERT INTO "history" VALUES(40,9,1794873246735,0,NULL);
INSERT INTO "history" VALUES(41,9,1794873246735,1,NULL);
INSERT INTO "history" VALUES(42,9,1794873246905,2,NULL);
INSERT INTO "history" VALUES(43,9,1794873247420,3,NULL);
INSERT INTO "history" VALUES(44,10,1794873247420,0,NULL);
INSERT INTO "history" VALUES(45,10,1794873247420,1,NULL);
INSERT INTO "history" VALUES(46,10,1794873247581,2,NULL);
INSERT INTO "history" VALUES(47,10,1794873248016,3,NULL);
INSERT INTO "history" VALUES(48,11,1794873248017,0,NULL);
INSERT INTO "history" VALUES(49,11,1794873248017,1,NULL);
INSERT INTO "history" VALUES(50,11,1794873248176,2,NULL);
INSERT INTO "history" VALUES(51,11,1794873249091,3,NULL);
INSERT INTO "history" VALUES(52,12,1794873249237,0,NULL);
INSERT INTO "history" VALUES(53,12,1794873249237,2,NULL);
INSERT INTO "history" VALUES(54,13,1794873249241,0,NULL);
INSERT INTO "history" VALUES(55,13,1794873249242,2,NULL);
INSERT INTO "history" VALUES(56,14,1794873249259,0,NULL);
INSERT INTO "history" VALUES(57,14,1794873249259,2,NULL);
INSERT INTO "history" VALUES(58,12,1794873249513,3,NULL);
INSERT INTO "history" VALUES(59,13,1794873249521,4,'no luck');
INSERT INTO "history" VALUES(60,15,1794873249536,0,NULL);
INSERT INTO "history" VALUES(61,16,1794873249536,0,NULL);
INSERT INTO "history" VALUES(62,15,1794873249536,1,NULL);
INSERT INTO "history" VALUES(63,15,1794873249700,2,NULL);
CREATE TABLE idempotency (
  key TEXT PRIMARY KEY,
  body_hash TEXT NOT NULL,
  experiment INTEGER NOT NULL,
  created_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE metric (
  task INTEGER NOT NULL REFERENCES task(id) ON DELETE CASCADE,
  name INTEGER NOT NULL,                  -- metric_name.id
  step INTEGER NOT NULL,
  value REAL,                             -- NULL is NaN
  time_ms INTEGER NOT NULL,
  PRIMARY KEY (task, name, step)
) WITHOUT ROWID;
INSERT INTO "metric" VALUES(1,1,0,1.0,1794873241133);
INSERT INTO "metric" VALUES(1,1,1,0.5,1794873241133);
INSERT INTO "metric" VALUES(1,1,2,3.33333333333333314829e-01,1794873241133);
INSERT INTO "metric" VALUES(1,1,3,0.25,1794873241133);
INSERT INTO "metric" VALUES(1,2,0,1.1,1794873241133);
INSERT INTO "metric" VALUES(1,2,1,0.6,1794873241133);
INSERT INTO "metric" VALUES(1,2,2,4.33333333333333348136e-01,1794873241133);
INSERT INTO "metric" VALUES(1,2,3,0.35,1794873241133);
INSERT INTO "metric" VALUES(2,1,0,1.0,1794873242868);
INSERT INTO "metric" VALUES(2,1,1,0.5,1794873242868);
INSERT INTO "metric" VALUES(2,1,2,3.33333333333333314829e-01,1794873242868);
INSERT INTO "metric" VALUES(2,1,3,0.25,1794873242868);
INSERT INTO "metric" VALUES(2,2,0,1.1,1794873242868);
INSERT INTO "metric" VALUES(2,2,1,0.6,1794873242868);
INSERT INTO "metric" VALUES(2,2,2,4.33333333333333348136e-01,1794873242868);
INSERT INTO "metric" VALUES(2,2,3,0.35,1794873242868);
INSERT INTO "metric" VALUES(3,1,0,1.0,1794873239567);
INSERT INTO "metric" VALUES(3,1,1,0.5,1794873239567);
INSERT INTO "metric" VALUES(3,1,2,3.33333333333333314829e-01,1794873239567);
INSERT INTO "metric" VALUES(3,2,0,1.1,1794873239567);
INSERT INTO "metric" VALUES(3,2,1,0.6,1794873239567);
INSERT INTO "metric" VALUES(3,2,2,4.33333333333333348136e-01,1794873239567);
INSERT INTO "metric" VALUES(4,1,0,1.0,1794873239576);
INSERT INTO "metric" VALUES(4,1,1,0.5,1794873239577);
INSERT INTO "metric" VALUES(4,1,2,3.33333333333333314829e-01,1794873239577);
INSERT INTO "metric" VALUES(4,1,3,0.25,1794873239577);
INSERT INTO "metric" VALUES(4,2,0,1.1,1794873239576);
INSERT INTO "metric" VALUES(4,2,1,0.6,1794873239577);
INSERT INTO "metric" VALUES(4,2,2,4.33333333333333348136e-01,1794873239577);
INSERT INTO "metric" VALUES(4,2,3,0.35,1794873239577);
INSERT INTO "metric" VALUES(5,3,0,1.00400252381301,1794873244801);
INSERT INTO "metric" VALUES(5,3,1,0.50400252381301,1794873244801);
INSERT INTO "metric" VALUES(5,3,2,3.3733585714634328756e-01,1794873244801);
INSERT INTO "metric" VALUES(5,4,0,1.0,1794873244801);
INSERT INTO "metric" VALUES(5,4,1,0.5,1794873244801);
INSERT INTO "metric" VALUES(5,4,2,3.33333333333333314829e-01,1794873244801);
INSERT INTO "metric" VALUES(6,3,0,1.5,1794873245994);
INSERT INTO "metric" VALUES(6,3,1,1.0,1794873245994);
INSERT INTO "metric" VALUES(6,3,2,8.33333333333333259318e-01,1794873245994);
INSERT INTO "metric" VALUES(6,4,0,1.0,1794873245994);
INSERT INTO "metric" VALUES(6,4,1,0.5,1794873245994);
INSERT INTO "metric" VALUES(6,4,2,3.33333333333333314829e-01,1794873245994);
INSERT INTO "metric" VALUES(7,3,0,0.4,1794873243014);
INSERT INTO "metric" VALUES(8,3,0,1.254052543852,1794873246734);
INSERT INTO "metric" VALUES(8,3,1,0.754052543852,1794873246734);
INSERT INTO "metric" VALUES(8,3,2,5.8738587718533330495e-01,1794873246734);
INSERT INTO "metric" VALUES(8,4,0,1.0,1794873246734);
INSERT INTO "metric" VALUES(8,4,1,0.5,1794873246734);
INSERT INTO "metric" VALUES(8,4,2,3.33333333333333314829e-01,1794873246734);
INSERT INTO "metric" VALUES(9,3,0,1.197269699846,1794873247419);
INSERT INTO "metric" VALUES(9,3,1,0.697269699846,1794873247419);
INSERT INTO "metric" VALUES(9,3,2,5.30603033179333327673e-01,1794873247419);
INSERT INTO "metric" VALUES(9,4,0,1.0,1794873247419);
INSERT INTO "metric" VALUES(9,4,1,0.5,1794873247419);
INSERT INTO "metric" VALUES(9,4,2,3.33333333333333314829e-01,1794873247419);
INSERT INTO "metric" VALUES(10,3,0,1.0113096123161,1794873248013);
INSERT INTO "metric" VALUES(10,3,1,0.5113096123161,1794873248013);
INSERT INTO "metric" VALUES(10,3,2,3.44642945649433318777e-01,1794873248013);
INSERT INTO "metric" VALUES(10,4,0,1.0,1794873248013);
INSERT INTO "metric" VALUES(10,4,1,0.5,1794873248013);
INSERT INTO "metric" VALUES(10,4,2,3.33333333333333314829e-01,1794873248013);
INSERT INTO "metric" VALUES(11,3,0,1.0648937594264,1794873249090);
INSERT INTO "metric" VALUES(11,3,1,0.5648937594264,1794873249090);
INSERT INTO "metric" VALUES(11,3,2,3.98227092759733336535e-01,1794873249090);
INSERT INTO "metric" VALUES(11,4,0,1.0,1794873249090);
INSERT INTO "metric" VALUES(11,4,1,0.5,1794873249090);
INSERT INTO "metric" VALUES(11,4,2,3.33333333333333314829e-01,1794873249090);
INSERT INTO "metric" VALUES(12,5,1,0.5,1794873249286);
INSERT INTO "metric" VALUES(12,5,2,0.75,1794873249513);
CREATE TABLE metric_name (
  id INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiment(id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  UNIQUE (experiment, name)
);
INSERT INTO "metric_name" VALUES(1,1,'loss');
INSERT INTO "metric_name" VALUES(2,1,'val_loss');
INSERT INTO "metric_name" VALUES(3,2,'val_loss');
INSERT INTO "metric_name" VALUES(4,2,'loss');
INSERT INTO "metric_name" VALUES(5,3,'score');
CREATE TABLE search_event (                -- what was asked and told, in order: replayed after a restart
  experiment INTEGER NOT NULL REFERENCES experiment(id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  kind INTEGER NOT NULL,                  -- 0 ask, 1 tell, 2 somebody else's configuration, 3 new settings
  asked INTEGER NOT NULL,                 -- the search's id, ascending with the asks
  outcome INTEGER,                        -- enum search_outcome of a tell
  value TEXT,                             -- JSON: the objectives' values of a tell, the configuration of an ask
  PRIMARY KEY (experiment, seq)
) WITHOUT ROWID;
INSERT INTO "search_event" VALUES(1,1,0,1,0,'{"parameters":{"mode":"good","lr":0.1,"epochs":4}}');
INSERT INTO "search_event" VALUES(1,2,0,2,0,'{"parameters":{"mode":"bad","lr":0.1,"epochs":4}}');
INSERT INTO "search_event" VALUES(1,3,0,3,0,'{"parameters":{"mode":"long","lr":0.1,"epochs":4}}');
INSERT INTO "search_event" VALUES(1,4,0,4,0,'{"parameters":{"mode":"late","lr":0.1,"epochs":4}}');
INSERT INTO "search_event" VALUES(1,5,1,2,1,NULL);
INSERT INTO "search_event" VALUES(1,6,1,1,0,'[0.35]');
INSERT INTO "search_event" VALUES(1,7,1,4,0,'[0.35]');
INSERT INTO "search_event" VALUES(1,8,1,3,2,NULL);
INSERT INTO "search_event" VALUES(1,9,1,1,0,'[0.35]');
INSERT INTO "search_event" VALUES(1,10,1,2,1,NULL);
INSERT INTO "search_event" VALUES(2,1,0,1,0,'{"parameters":{"lr":0.00400252381301,"epochs":3}}');
INSERT INTO "search_event" VALUES(2,2,2,2,0,'{"parameters":{"lr":0.5,"epochs":3}}');
INSERT INTO "search_event" VALUES(2,3,2,3,0,'{"parameters":{"lr":0.25,"epochs":3}}');
INSERT INTO "search_event" VALUES(2,4,1,3,0,'[0.4]');
INSERT INTO "search_event" VALUES(2,5,1,1,0,'[0.3373358571463433]');
INSERT INTO "search_event" VALUES(2,6,1,2,0,'[0.8333333333333333]');
INSERT INTO "search_event" VALUES(2,7,0,4,0,'{"parameters":{"lr":0.254052543852,"epochs":3}}');
INSERT INTO "search_event" VALUES(2,8,1,4,0,'[0.5873858771853333]');
INSERT INTO "search_event" VALUES(2,9,0,5,0,'{"parameters":{"lr":0.197269699846,"epochs":3}}');
INSERT INTO "search_event" VALUES(2,10,1,5,0,'[0.5306030331793333]');
INSERT INTO "search_event" VALUES(2,11,0,6,0,'{"parameters":{"lr":0.0113096123161,"epochs":3}}');
INSERT INTO "search_event" VALUES(2,12,1,6,0,'[0.3446429456494333]');
INSERT INTO "search_event" VALUES(2,13,0,7,0,'{"parameters":{"lr":0.0648937594264,"epochs":3}}');
INSERT INTO "search_event" VALUES(2,14,1,7,0,'[0.39822709275973334]');
INSERT INTO "search_event" VALUES(3,1,0,1,0,'{"parameters":{"x":1}}');
INSERT INTO "search_event" VALUES(3,2,0,2,0,'{"parameters":{"x":2}}');
INSERT INTO "search_event" VALUES(3,3,0,3,0,'{"parameters":{"x":3}}');
INSERT INTO "search_event" VALUES(3,4,1,1,0,'[0.75]');
INSERT INTO "search_event" VALUES(3,5,1,2,1,NULL);
INSERT INTO "search_event" VALUES(4,1,0,1,0,'{"parameters":{"x":1}}');
INSERT INTO "search_event" VALUES(4,2,0,2,0,'{"parameters":{"x":2}}');
CREATE TABLE session (
  hash TEXT PRIMARY KEY,                  -- of the cookie
  csrf TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE tally (
  experiment INTEGER NOT NULL,
  state INTEGER NOT NULL,
  source TEXT NOT NULL,                   -- task.energy_source, '' for none
  tasks INTEGER NOT NULL,
  wall_ms INTEGER NOT NULL, with_wall INTEGER NOT NULL,
  cpu_ms INTEGER NOT NULL, with_cpu INTEGER NOT NULL,
  gpu_ms INTEGER NOT NULL, with_gpu INTEGER NOT NULL,
  energy_j REAL NOT NULL, with_energy INTEGER NOT NULL,
  PRIMARY KEY (experiment, state, source)
) WITHOUT ROWID;
INSERT INTO "tally" VALUES(1,0,'',0,0,0,0,0,0,0,0.0,0);
INSERT INTO "tally" VALUES(1,1,'',0,0,0,0,0,0,0,0.0,0);
INSERT INTO "tally" VALUES(1,2,'',0,0,0,0,0,0,0,0.0,0);
INSERT INTO "tally" VALUES(1,3,'',2,3255,2,511,2,0,2,0.0,0);
INSERT INTO "tally" VALUES(1,4,'',1,2478,1,333,1,0,1,0.0,0);
INSERT INTO "tally" VALUES(1,5,'',1,1227,1,156,1,0,1,0.0,0);
INSERT INTO "tally" VALUES(2,0,'',0,0,0,0,0,0,0,0.0,0);
INSERT INTO "tally" VALUES(2,1,'',0,0,0,0,0,0,0,0.0,0);
INSERT INTO "tally" VALUES(2,2,'',0,0,0,0,0,0,0,0.0,0);
INSERT INTO "tally" VALUES(2,3,'',7,5810,6,971,6,0,6,0.0,0);
INSERT INTO "tally" VALUES(3,0,'',0,0,0,0,0,0,0,0.0,0);
INSERT INTO "tally" VALUES(3,2,'',1,0,0,0,0,0,0,0.0,0);
INSERT INTO "tally" VALUES(3,3,'',1,276,1,0,0,0,1,0.0,0);
INSERT INTO "tally" VALUES(3,4,'',1,279,1,0,0,0,1,0.0,0);
INSERT INTO "tally" VALUES(4,0,'',1,0,0,0,0,0,0,0.0,0);
INSERT INTO "tally" VALUES(4,1,'',0,0,0,0,0,0,0,0.0,0);
INSERT INTO "tally" VALUES(4,2,'',1,0,0,0,0,0,0,0.0,0);
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
INSERT INTO "task" VALUES(1,1,1,3,NULL,NULL,'{"mode":"good","lr":0.1,"epochs":4}',1,1607784262,NULL,1,4,0.35,3,0.35,3,3,1,2,0,0,'{}',0,1794873237550,1794873239794,1794873239847,1794873241135,'vm',NULL,NULL,NULL,2247,349,0,14458880,NULL,NULL);
INSERT INTO "task" VALUES(2,1,2,4,'exit code 1','{"kind":"exit","code":1,"signal":null,"text":"exit code 1","remedy":"see the error output","tail":"about to fail\nValueError: broken on purpose\n"}','{"mode":"bad","lr":0.1,"epochs":4}',1,201328530,NULL,2,4,0.35,3,0.35,3,3,1,2,0,0,'{}',0,1794873237550,1794873241246,1794873241310,1794873242923,'vm',NULL,NULL,NULL,2478,333,0,14458880,NULL,NULL);
INSERT INTO "task" VALUES(3,1,3,5,'stopped by the user',NULL,'{"mode":"long","lr":0.1,"epochs":4}',1,1314807888,NULL,3,4,4.33333333333333348136e-01,2,4.33333333333333348136e-01,2,2,1,1,1,0,'{}',0,1794873237550,1794873238528,1794873238545,1794873239774,'vm',NULL,NULL,NULL,1227,156,0,14196736,NULL,NULL);
INSERT INTO "task" VALUES(4,1,4,3,NULL,NULL,'{"mode":"late","lr":0.1,"epochs":4}',1,17511198,NULL,4,4,0.35,3,0.35,3,3,1,1,0,0,'{}',0,1794873237550,1794873238544,1794873238580,1794873239578,'vm',NULL,NULL,NULL,1008,162,0,14426112,NULL,NULL);
INSERT INTO "task" VALUES(5,2,1,3,NULL,NULL,'{"lr":0.00400252381301,"epochs":3}',1,586067963,NULL,1,3,3.3733585714634328756e-01,2,3.3733585714634328756e-01,2,2,1,1,0,0,'{}',0,1794873242965,1794873242965,1794873243039,1794873244801,'vm',NULL,NULL,NULL,1762,167,0,14524416,NULL,NULL);
INSERT INTO "task" VALUES(6,2,2,3,NULL,NULL,'{"lr":0.5,"epochs":3}',1,2,NULL,2,3,8.33333333333333259318e-01,2,8.33333333333333259318e-01,2,2,1,1,0,0,'{}',0,1794873243000,1794873244802,1794873244882,1794873245996,'vm',NULL,NULL,NULL,1117,155,0,14364672,NULL,NULL);
INSERT INTO "task" VALUES(7,2,3,3,'imported',NULL,'{"lr":0.25,"epochs":3}',1,3,NULL,3,3,0.4,0,0.4,0,0,0,0,0,0,'{}',0,1794873243014,NULL,NULL,1794873243014,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "task" VALUES(8,2,4,3,NULL,NULL,'{"lr":0.254052543852,"epochs":3}',1,507871324,NULL,4,3,5.8738587718533330495e-01,2,5.8738587718533330495e-01,2,2,1,1,0,0,'{}',0,1794873245996,1794873245996,1794873246021,1794873246735,'vm',NULL,NULL,NULL,713,162,0,14446592,NULL,NULL);
INSERT INTO "task" VALUES(9,2,5,3,NULL,NULL,'{"lr":0.197269699846,"epochs":3}',1,455485040,NULL,5,3,5.30603033179333327673e-01,2,5.30603033179333327673e-01,2,2,1,1,0,0,'{}',0,1794873246735,1794873246735,1794873246817,1794873247420,'vm',NULL,NULL,NULL,601,169,0,14368768,NULL,NULL);
INSERT INTO "task" VALUES(10,2,6,3,NULL,NULL,'{"lr":0.0113096123161,"epochs":3}',1,1272145875,NULL,6,3,3.44642945649433318777e-01,2,3.44642945649433318777e-01,2,2,1,1,0,0,'{}',0,1794873247420,1794873247420,1794873247441,1794873248016,'vm',NULL,NULL,NULL,571,157,0,14327808,NULL,NULL);
INSERT INTO "task" VALUES(11,2,7,3,NULL,NULL,'{"lr":0.0648937594264,"epochs":3}',1,1039993005,NULL,7,3,3.98227092759733336535e-01,2,3.98227092759733336535e-01,2,2,1,1,0,0,'{}',0,1794873248017,1794873248017,1794873248044,1794873249091,'vm',NULL,NULL,NULL,1046,161,0,14311424,NULL,NULL);
INSERT INTO "task" VALUES(12,3,1,3,NULL,NULL,'{"x":1}',1,1607784262,NULL,1,NULL,0.75,2,0.75,2,2,0,1,0,0,'{}',0,1794873249237,NULL,1794873249237,1794873249513,'vm',NULL,NULL,NULL,276,NULL,0,NULL,NULL,NULL);
INSERT INTO "task" VALUES(13,3,2,4,'no luck','{"kind":"exit","code":1,"signal":null,"text":"no luck","remedy":"see the error output","tail":null}','{"x":2}',1,201328530,NULL,2,NULL,NULL,NULL,NULL,NULL,NULL,0,1,0,0,'{}',0,1794873249241,NULL,1794873249242,1794873249521,'vm',NULL,NULL,NULL,279,NULL,0,NULL,NULL,NULL);
INSERT INTO "task" VALUES(14,3,3,2,NULL,NULL,'{"x":3}',1,1314807888,NULL,3,NULL,NULL,NULL,NULL,NULL,NULL,0,1,0,0,'{}',0,1794873249259,NULL,1794873249259,NULL,'vm',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "task" VALUES(15,4,1,2,NULL,NULL,'{"x":1}',1,1607784262,NULL,1,NULL,NULL,NULL,NULL,NULL,NULL,0,1,0,0,'{}',0,1794873249536,1794873249536,1794873249558,NULL,'vm',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "task" VALUES(16,4,2,0,NULL,NULL,'{"x":2}',1,201328530,NULL,2,NULL,NULL,NULL,NULL,NULL,NULL,0,0,0,0,'{}',0,1794873249536,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE INDEX task_by_asked ON task (experiment, asked);
CREATE INDEX attempt_live ON attempt (state) WHERE state IN (1, 2);
CREATE INDEX history_by_task ON history (task);
CREATE INDEX task_by_state ON task (experiment, state, number);
CREATE INDEX task_by_best ON task (experiment, best, number) WHERE best IS NOT NULL;
CREATE INDEX task_by_end ON task (experiment, finished_ms, number) WHERE finished_ms IS NOT NULL;
CREATE TRIGGER experiment_removed AFTER DELETE ON experiment BEGIN
  DELETE FROM tally WHERE experiment = old.id;
END;
CREATE TRIGGER task_added AFTER INSERT ON task BEGIN
  INSERT INTO tally VALUES (new.experiment, new.state, ifnull(new.energy_source, ''), 1,
    ifnull(new.wall_ms, 0), new.wall_ms IS NOT NULL, ifnull(new.cpu_ms, 0), new.cpu_ms IS NOT NULL,
    ifnull(new.gpu_ms, 0), new.gpu_ms IS NOT NULL, ifnull(new.energy_j, 0), new.energy_j IS NOT NULL)
  ON CONFLICT DO UPDATE SET tasks = tasks + 1,
    wall_ms = wall_ms + excluded.wall_ms, with_wall = with_wall + excluded.with_wall,
    cpu_ms = cpu_ms + excluded.cpu_ms, with_cpu = with_cpu + excluded.with_cpu,
    gpu_ms = gpu_ms + excluded.gpu_ms, with_gpu = with_gpu + excluded.with_gpu,
    energy_j = energy_j + excluded.energy_j, with_energy = with_energy + excluded.with_energy;
END;
CREATE TRIGGER task_removed AFTER DELETE ON task BEGIN
  UPDATE tally SET tasks = tasks - 1,
    wall_ms = wall_ms - ifnull(old.wall_ms, 0), with_wall = with_wall - (old.wall_ms IS NOT NULL),
    cpu_ms = cpu_ms - ifnull(old.cpu_ms, 0), with_cpu = with_cpu - (old.cpu_ms IS NOT NULL),
    gpu_ms = gpu_ms - ifnull(old.gpu_ms, 0), with_gpu = with_gpu - (old.gpu_ms IS NOT NULL),
    energy_j = energy_j - ifnull(old.energy_j, 0), with_energy = with_energy - (old.energy_j IS NOT NULL)
  WHERE experiment = old.experiment AND state = old.state AND source = ifnull(old.energy_source, '');
END;
CREATE TRIGGER task_moved AFTER UPDATE OF state, energy_source ON task
WHEN old.state IS NOT new.state OR old.energy_source IS NOT new.energy_source BEGIN
  UPDATE tally SET tasks = tasks - 1,
    wall_ms = wall_ms - ifnull(old.wall_ms, 0), with_wall = with_wall - (old.wall_ms IS NOT NULL),
    cpu_ms = cpu_ms - ifnull(old.cpu_ms, 0), with_cpu = with_cpu - (old.cpu_ms IS NOT NULL),
    gpu_ms = gpu_ms - ifnull(old.gpu_ms, 0), with_gpu = with_gpu - (old.gpu_ms IS NOT NULL),
    energy_j = energy_j - ifnull(old.energy_j, 0), with_energy = with_energy - (old.energy_j IS NOT NULL)
  WHERE experiment = old.experiment AND state = old.state AND source = ifnull(old.energy_source, '');
  INSERT INTO tally VALUES (new.experiment, new.state, ifnull(new.energy_source, ''), 1,
    ifnull(new.wall_ms, 0), new.wall_ms IS NOT NULL, ifnull(new.cpu_ms, 0), new.cpu_ms IS NOT NULL,
    ifnull(new.gpu_ms, 0), new.gpu_ms IS NOT NULL, ifnull(new.energy_j, 0), new.energy_j IS NOT NULL)
  ON CONFLICT DO UPDATE SET tasks = tasks + 1,
    wall_ms = wall_ms + excluded.wall_ms, with_wall = with_wall + excluded.with_wall,
    cpu_ms = cpu_ms + excluded.cpu_ms, with_cpu = with_cpu + excluded.with_cpu,
    gpu_ms = gpu_ms + excluded.gpu_ms, with_gpu = with_gpu + excluded.with_gpu,
    energy_j = energy_j + excluded.energy_j, with_energy = with_energy + excluded.with_energy;
END;
CREATE TRIGGER task_cost AFTER UPDATE OF wall_ms, cpu_ms, gpu_ms, energy_j ON task
WHEN old.state IS new.state AND old.energy_source IS new.energy_source BEGIN
  UPDATE tally SET
    wall_ms = wall_ms + ifnull(new.wall_ms, 0) - ifnull(old.wall_ms, 0),
    with_wall = with_wall + (new.wall_ms IS NOT NULL) - (old.wall_ms IS NOT NULL),
    cpu_ms = cpu_ms + ifnull(new.cpu_ms, 0) - ifnull(old.cpu_ms, 0),
    with_cpu = with_cpu + (new.cpu_ms IS NOT NULL) - (old.cpu_ms IS NOT NULL),
    gpu_ms = gpu_ms + ifnull(new.gpu_ms, 0) - ifnull(old.gpu_ms, 0),
    with_gpu = with_gpu + (new.gpu_ms IS NOT NULL) - (old.gpu_ms IS NOT NULL),
    energy_j = energy_j + ifnull(new.energy_j, 0) - ifnull(old.energy_j, 0),
    with_energy = with_energy + (new.energy_j IS NOT NULL) - (old.energy_j IS NOT NULL)
  WHERE experiment = new.experiment AND state = new.state AND source = ifnull(new.energy_source, '');
END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('experiment',4);
INSERT INTO "sqlite_sequence" VALUES('access_token',1);
COMMIT;
