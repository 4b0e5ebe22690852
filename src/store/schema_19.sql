-- Version 19: no attempt and no task gets the id of one that was removed. In a copy of a state folder all attempts up to an
-- id belong to the original.
CREATE TABLE removed_id (
  name TEXT PRIMARY KEY,                  -- of the table: attempt, task
  last INTEGER NOT NULL                   -- the largest id that was removed
) WITHOUT ROWID;
INSERT INTO removed_id VALUES ('attempt', 0), ('task', 0);
CREATE TRIGGER attempt_id_removed AFTER DELETE ON attempt BEGIN
  UPDATE removed_id SET last = old.id WHERE name = 'attempt' AND last < old.id;
END;
CREATE TRIGGER task_id_removed AFTER DELETE ON task BEGIN
  UPDATE removed_id SET last = old.id WHERE name = 'task' AND last < old.id;
END;
