-- Version 17: tasks that were removed. The sequence of the search keeps their place, and no task gets their numbers.
ALTER TABLE experiment ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;       -- how many
ALTER TABLE experiment ADD COLUMN removed_last INTEGER NOT NULL DEFAULT 0;  -- the largest of their numbers
ALTER TABLE experiment ADD COLUMN removed_gpu_ms REAL NOT NULL DEFAULT 0;   -- what they used: budgets still count it
ALTER TABLE experiment ADD COLUMN removed_energy_j REAL NOT NULL DEFAULT 0;
ALTER TABLE experiment ADD COLUMN remove_from INTEGER NOT NULL DEFAULT 0;   -- marked tasks from this number on; 0: none
