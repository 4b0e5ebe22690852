-- Version 18: why rows of a task have other steps than in the file that they come from, in words; NULL: they have the same.
ALTER TABLE task ADD COLUMN renumbered TEXT;
