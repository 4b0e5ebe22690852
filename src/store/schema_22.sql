-- Version 22: the experiments of one program, however many others came after them.
CREATE INDEX experiment_by_script ON experiment (script);
