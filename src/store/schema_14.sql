-- Version 14: facts that were recognised by their words have columns and kinds of their own.
ALTER TABLE attempt ADD COLUMN stall TEXT; -- that its script makes no progress, in words; NULL: nothing is known of that
ALTER TABLE attempt ADD COLUMN slow TEXT; -- that it is slower than its siblings, in words; NULL: it is not
ALTER TABLE attempt ADD COLUMN silent INTEGER NOT NULL DEFAULT 0; -- 1: its runner gives no sign of life
UPDATE attempt SET stall = (SELECT t.reason FROM task t WHERE t.id = attempt.task)
  WHERE state IN (1, 2) AND task IN (SELECT id FROM task WHERE reason GLOB 'makes no progress: *');
UPDATE attempt SET slow = (SELECT t.reason FROM task t WHERE t.id = attempt.task)
  WHERE state IN (1, 2) AND task IN (SELECT id FROM task WHERE reason GLOB 'slower than its siblings: *');
UPDATE attempt SET silent = 1
  WHERE state IN (1, 2) AND task IN (SELECT id FROM task WHERE reason GLOB 'no sign of life from its runner*');
-- experiment.warnings was a list of texts, and is one of {"kind","text"}: see STORE_WARNS_SETTING.
UPDATE experiment SET warnings = (SELECT json_group_array(json_object('kind', CASE
    WHEN value GLOB 'no objective is set: *' THEN 'unset'
    WHEN value GLOB 'no value for the objective: *' THEN 'missing'
    WHEN value GLOB 'the energy of task *' THEN 'energy'
    WHEN value GLOB 'left out: *' THEN 'nodes'
    WHEN value GLOB 'the script was replaced *' THEN 'script'
    ELSE 'setting' END, 'text', value)) FROM json_each(warnings)) WHERE warnings <> '[]';
