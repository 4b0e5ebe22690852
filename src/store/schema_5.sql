-- Version 5: why an experiment starts nothing more until a person looks at it. NULL: it is not paused.
ALTER TABLE experiment ADD COLUMN paused TEXT;
