-- Version 2: nothing that happens often walks over all tasks of an experiment.
DROP INDEX task_by_state;
CREATE INDEX task_by_state ON task (experiment, state, number);
CREATE INDEX task_by_best ON task (experiment, best, number) WHERE best IS NOT NULL;
CREATE INDEX task_by_end ON task (experiment, finished_ms, number) WHERE finished_ms IS NOT NULL;
-- An action on all tasks that is being carried out, some of them a turn: enum store_sweep, the first number that was not
-- looked at yet, and when it was asked for.
ALTER TABLE experiment ADD COLUMN sweep INTEGER NOT NULL DEFAULT 0;
ALTER TABLE experiment ADD COLUMN sweep_from INTEGER NOT NULL DEFAULT 0;
ALTER TABLE experiment ADD COLUMN sweep_ms INTEGER NOT NULL DEFAULT 0;
-- What the tasks add up to, kept by the triggers below: sums, and how many tasks each sum is of.
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
INSERT INTO tally SELECT experiment, state, ifnull(energy_source, ''), count(*), ifnull(sum(wall_ms), 0), count(wall_ms),
  ifnull(sum(cpu_ms), 0), count(cpu_ms), ifnull(sum(gpu_ms), 0), count(gpu_ms), total(energy_j), count(energy_j)
  FROM task GROUP BY 1, 2, 3;
CREATE VIEW tally_change AS SELECT * FROM tally;
CREATE TRIGGER tally_add INSTEAD OF INSERT ON tally_change BEGIN
  INSERT INTO tally VALUES (new.experiment, new.state, ifnull(new.source, ''), new.tasks,
    new.tasks * ifnull(new.wall_ms, 0), new.tasks * (new.wall_ms IS NOT NULL),
    new.tasks * ifnull(new.cpu_ms, 0), new.tasks * (new.cpu_ms IS NOT NULL),
    new.tasks * ifnull(new.gpu_ms, 0), new.tasks * (new.gpu_ms IS NOT NULL),
    new.tasks * ifnull(new.energy_j, 0), new.tasks * (new.energy_j IS NOT NULL))
  ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks,
    wall_ms = wall_ms + excluded.wall_ms, with_wall = with_wall + excluded.with_wall,
    cpu_ms = cpu_ms + excluded.cpu_ms, with_cpu = with_cpu + excluded.with_cpu,
    gpu_ms = gpu_ms + excluded.gpu_ms, with_gpu = with_gpu + excluded.with_gpu,
    energy_j = energy_j + excluded.energy_j, with_energy = with_energy + excluded.with_energy;
END;
CREATE TRIGGER task_added AFTER INSERT ON task BEGIN
  INSERT INTO tally_change (experiment, state, source, tasks, wall_ms, cpu_ms, gpu_ms, energy_j)
    VALUES (new.experiment, new.state, new.energy_source, 1, new.wall_ms, new.cpu_ms, new.gpu_ms, new.energy_j);
END;
CREATE TRIGGER task_removed AFTER DELETE ON task BEGIN
  INSERT INTO tally_change (experiment, state, source, tasks, wall_ms, cpu_ms, gpu_ms, energy_j)
    VALUES (old.experiment, old.state, old.energy_source, -1, old.wall_ms, old.cpu_ms, old.gpu_ms, old.energy_j);
END;
CREATE TRIGGER task_changed AFTER UPDATE OF state, wall_ms, cpu_ms, gpu_ms, energy_j, energy_source ON task BEGIN
  INSERT INTO tally_change (experiment, state, source, tasks, wall_ms, cpu_ms, gpu_ms, energy_j)
    VALUES (old.experiment, old.state, old.energy_source, -1, old.wall_ms, old.cpu_ms, old.gpu_ms, old.energy_j);
  INSERT INTO tally_change (experiment, state, source, tasks, wall_ms, cpu_ms, gpu_ms, energy_j)
    VALUES (new.experiment, new.state, new.energy_source, 1, new.wall_ms, new.cpu_ms, new.gpu_ms, new.energy_j);
END;
CREATE TRIGGER experiment_removed AFTER DELETE ON experiment BEGIN
  DELETE FROM tally WHERE experiment = old.id;
END;
