-- Version 16: which task met the condition of `stop: {when}`, and how a script was started.
ALTER TABLE experiment ADD COLUMN met_task INTEGER; -- its number; NULL: none
ALTER TABLE attempt ADD COLUMN warm INTEGER; -- 1: from a process that had its modules imported, 0: cold; NULL: not known
