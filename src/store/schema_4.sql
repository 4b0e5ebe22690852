-- Version 4: figures that SQL neither sums nor sorts by are members of one JSON map, so that a new figure needs no column.
-- NULL: none was measured. The most memory used was a column before.
ALTER TABLE task ADD COLUMN figures TEXT;
ALTER TABLE attempt ADD COLUMN figures TEXT;
UPDATE task SET figures = json_object('max_rss_bytes', max_rss) WHERE max_rss IS NOT NULL;
UPDATE attempt SET figures = json_object('max_rss_bytes', max_rss) WHERE max_rss IS NOT NULL;
ALTER TABLE task DROP COLUMN max_rss;
ALTER TABLE attempt DROP COLUMN max_rss;
