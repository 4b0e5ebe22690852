-- Version 12: limits on metrics.
ALTER TABLE experiment ADD COLUMN limits TEXT; -- JSON: [{"metric","at_most" or "at_least"}]; NULL: none
ALTER TABLE task ADD COLUMN beyond TEXT;       -- the limit that it does not keep, in words; NULL: within all of them
