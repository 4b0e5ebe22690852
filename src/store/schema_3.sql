-- Version 3: the tally as before, by fewer steps. A change of cost alone touches one row of it once, and no trigger calls
-- another: every ask and every tell goes through here.
DROP TRIGGER task_added;
DROP TRIGGER task_removed;
DROP TRIGGER task_changed;
DROP VIEW tally_change;
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
