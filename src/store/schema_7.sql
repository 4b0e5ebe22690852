-- Version 7: what the attempts of a batch asked for, as JSON. NULL in batches of earlier versions.
ALTER TABLE batch ADD COLUMN asked TEXT;
