-- Version 20: a removed task leaves its experiment at once, and its rows go in small parts. Until they are gone it belongs
-- to experiment 0, which no list shows because it is always being removed.
INSERT INTO experiment (id, name, state, created_ms, spec, parameters, varying, objective, strategy, seed, planned, backend,
  removing) VALUES (0, 'removed', 3, 0, '{}', '[]', '[]', '[]', 'grid', 0, 0, 'local', 1);
-- The tally has no rows of experiment 0.
CREATE TRIGGER task_left AFTER UPDATE OF experiment ON task BEGIN
  UPDATE tally SET tasks = tasks - 1,
    wall_ms = wall_ms - ifnull(old.wall_ms, 0), with_wall = with_wall - (old.wall_ms IS NOT NULL),
    cpu_ms = cpu_ms - ifnull(old.cpu_ms, 0), with_cpu = with_cpu - (old.cpu_ms IS NOT NULL),
    gpu_ms = gpu_ms - ifnull(old.gpu_ms, 0), with_gpu = with_gpu - (old.gpu_ms IS NOT NULL),
    energy_j = energy_j - ifnull(old.energy_j, 0), with_energy = with_energy - (old.energy_j IS NOT NULL)
  WHERE experiment = old.experiment AND state = old.state AND source = ifnull(old.energy_source, '');
END;
