-- Format 2 brought packs: rows of several items. Every row of format 1 is one item.

ALTER TABLE item RENAME TO item_1;
DROP INDEX item_early;
DROP INDEX item_source;

CREATE TABLE item (
  key INTEGER PRIMARY KEY,
  count INTEGER NOT NULL CHECK (count > 0),
  created_at INTEGER NOT NULL,
  queued_at INTEGER,
  expire_deadline INTEGER NOT NULL,
  early INTEGER NOT NULL CHECK (early IN (0, 1)),
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  kind TEXT,
  encoding TEXT,
  reference TEXT,
  source_id TEXT,
  check_sum INTEGER NOT NULL,
  sizes BLOB,
  texts TEXT,
  payload BLOB NOT NULL
) STRICT;

INSERT INTO item
SELECT key, 1, created_at, queued_at, expire_deadline, early, attempts,
  kind, encoding, reference, source_id, check_sum, NULL, NULL, payload
FROM item_1 ORDER BY key;

DROP TABLE item_1;
CREATE INDEX item_early ON item (expire_deadline, key) WHERE early = 1;
CREATE INDEX item_source ON item (source_id) WHERE source_id IS NOT NULL;

CREATE TABLE hole (
  key INTEGER PRIMARY KEY,
  gone BLOB NOT NULL,
  check_sum INTEGER NOT NULL
) STRICT;
