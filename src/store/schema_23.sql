-- Version 23: how many of its tasks were imported. They may be run again, or removed; the search has not proposed them.
ALTER TABLE experiment ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;
UPDATE experiment SET imported = (SELECT count(*) FROM task WHERE task.experiment = experiment.id AND reason IS 'imported');
