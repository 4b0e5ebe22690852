-- Version 21: how a task had ended before a user restarted it, until its new attempt has begun. A restart that is stopped
-- before that leaves the task as it was.
ALTER TABLE task ADD COLUMN kept TEXT; -- JSON: {"state","reason","cause","finished_ms"}; NULL: it was not restarted, or has begun
