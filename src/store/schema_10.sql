-- Version 10: what the steps of a task count, and what is known of the best task beside its value.
ALTER TABLE task ADD COLUMN step_name TEXT;       -- "epoch", "step", "row"; NULL: no row has come
ALTER TABLE experiment ADD COLUMN best_more TEXT; -- JSON: "values" of all objectives; "mean", "spread", "repeats"
