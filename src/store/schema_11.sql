-- Version 11: what people write about experiments and tasks. No trigger watches these columns.
ALTER TABLE experiment ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';    -- JSON: a list of words
ALTER TABLE experiment ADD COLUMN notes TEXT;                         -- Markdown; NULL: none
ALTER TABLE experiment ADD COLUMN star INTEGER NOT NULL DEFAULT 0;
ALTER TABLE experiment ADD COLUMN archived INTEGER NOT NULL DEFAULT 0; -- left out of lists unless asked for
ALTER TABLE task ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE task ADD COLUMN notes TEXT;
ALTER TABLE task ADD COLUMN star INTEGER NOT NULL DEFAULT 0;
