-- One file contains one shard: its queues, and all items of its partitions.
--
-- An item's key is (slot << 45) + seq: the slot is the partition's number in
-- the shard, seq the item's place in it. So the items of a partition are one
-- contiguous range of the table, in queue order. Leasing or completing the head
-- of a queue touches neighbouring rows.
--
-- Rows of `item` are written once and removed, never changed. `check_sum` is a
-- CRC-32 over the row, because SQLite cannot see a flipped bit in a value.

-- Ready and leased items. A row is one item, or a pack: `count` neighbours that
-- share their instants and attempts, of which the first gives the key. Small
-- columns come first, so that they are read without the payload.
CREATE TABLE item (
  key INTEGER PRIMARY KEY,
  count INTEGER NOT NULL CHECK (count > 0),
  created_at INTEGER NOT NULL,
  -- NULL = created_at: true of every item that was never requeued.
  queued_at INTEGER,
  expire_deadline INTEGER NOT NULL,
  early INTEGER NOT NULL CHECK (early IN (0, 1)),
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  -- NULL = empty, here and below: a NULL costs no bytes.
  kind TEXT,
  encoding TEXT,
  reference TEXT,
  source_id TEXT,
  headers TEXT,
  -- For a pack: the text of each item, one a line.
  past TEXT,
  check_sum INTEGER NOT NULL,
  -- For a pack: payload size and CRC-32 of each item, as 32-bit little-endian
  -- numbers.
  sizes BLOB,
  -- For a pack: kind, encoding and reference of each item, and the headers if
  -- any item has some, as JSON.
  texts TEXT,
  payload BLOB NOT NULL
) STRICT;

-- The items that have left their pack, as bits, the lowest first.
CREATE TABLE hole (
  key INTEGER PRIMARY KEY,
  gone BLOB NOT NULL,
  check_sum INTEGER NOT NULL
) STRICT;

-- Both are partial: an ordinary item is in neither.
CREATE INDEX item_early ON item (expire_deadline, key) WHERE early = 1;
CREATE INDEX item_source ON item (source_id) WHERE source_id IS NOT NULL;

-- Items scheduled for an instant, by a producer's enqueue_at or a retry_at.
CREATE TABLE scheduled (
  key INTEGER PRIMARY KEY,
  created_at INTEGER NOT NULL,
  queued_at INTEGER,
  expire_deadline INTEGER NOT NULL,
  early INTEGER NOT NULL CHECK (early = 0),
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  kind TEXT,
  encoding TEXT,
  reference TEXT,
  source_id TEXT,
  headers TEXT,
  past TEXT,
  payload BLOB NOT NULL,
  check_sum INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  retried INTEGER NOT NULL CHECK (retried IN (0, 1)),
  -- The earlier of due_at and expire_deadline.
  wake_at INTEGER NOT NULL
) STRICT;

CREATE INDEX scheduled_wake ON scheduled (wake_at, key);
CREATE INDEX scheduled_source ON scheduled (source_id) WHERE source_id IS NOT NULL;

-- One row for all items that one turn leased from a partition: the key of the
-- first item and the seq of the last. No ready item lies between them.
CREATE TABLE lease (
  key INTEGER PRIMARY KEY,
  last_seq INTEGER NOT NULL,
  lease_deadline INTEGER NOT NULL,
  leased_at INTEGER NOT NULL,
  check_sum INTEGER NOT NULL
) STRICT;

-- Counters of a partition. A slot whose queue was deleted keeps its row,
-- because next_seq must never decrease.
CREATE TABLE tally (
  slot INTEGER PRIMARY KEY,
  next_seq INTEGER NOT NULL,
  item_count INTEGER NOT NULL CHECK (item_count >= 0),
  -- Text, because the sum may exceed 64 bits.
  created_at_sum TEXT NOT NULL,
  scheduled_count INTEGER NOT NULL CHECK (scheduled_count >= 0),
  retried_count INTEGER NOT NULL CHECK (retried_count >= 0),
  expire_deadline_max INTEGER NOT NULL,
  doomed_count INTEGER NOT NULL CHECK (doomed_count >= 0),
  clear_ready_below INTEGER NOT NULL,
  clear_scheduled_below INTEGER NOT NULL,
  clear_retried_below INTEGER NOT NULL,
  check_sum INTEGER NOT NULL
) STRICT;

-- Items in transit to another shard.
CREATE TABLE outbound (
  outbound_seq INTEGER PRIMARY KEY,
  key INTEGER NOT NULL,
  target_shard INTEGER NOT NULL,
  target_owner INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  queued_at INTEGER,
  expire_deadline INTEGER NOT NULL,
  early INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  kind TEXT,
  encoding TEXT,
  reference TEXT,
  source_id TEXT,
  headers TEXT,
  past TEXT,
  payload BLOB NOT NULL,
  check_sum INTEGER NOT NULL
) STRICT;

-- The items for one shard in order, and the queues that they are for.
CREATE INDEX outbound_route ON outbound (target_shard, outbound_seq, target_owner);

CREATE TABLE inbound (
  source_shard INTEGER PRIMARY KEY,
  outbound_seq INTEGER NOT NULL,
  check_sum INTEGER NOT NULL
) STRICT;

-- The definitions of the shard's queues, with the places of their partitions.
CREATE TABLE queue (
  queue_id INTEGER PRIMARY KEY,
  entry TEXT NOT NULL CHECK (json_valid(entry)),
  check_sum INTEGER NOT NULL
) STRICT;

-- The latest turns in a ring, to look up a turn whose outcome is unknown. Turns
-- with receipts are in `keyed_turn`.
CREATE TABLE turn (
  ring INTEGER PRIMARY KEY,
  turn INTEGER NOT NULL,
  at INTEGER NOT NULL,
  tag TEXT NOT NULL,
  check_sum INTEGER NOT NULL
) STRICT;

-- Turns with receipts of calls with a key, until the window of the receipts has
-- passed. One row for turn and receipts, as each table that a commit touches
-- costs a page.
CREATE TABLE keyed_turn (
  turn INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  tag TEXT NOT NULL,
  check_sum INTEGER NOT NULL,
  receipts BLOB NOT NULL,
  receipts_sum INTEGER NOT NULL
) STRICT;

-- Unique keys: until the instant, no other item of the queue may have the same.
-- `key` is that of the item it came with, which may be gone.
CREATE TABLE unique_key (
  key INTEGER PRIMARY KEY,
  -- 128 bits of a SHA-256.
  digest BLOB NOT NULL UNIQUE,
  until INTEGER NOT NULL,
  check_sum INTEGER NOT NULL
) STRICT;

CREATE INDEX unique_key_until ON unique_key (until);

-- The items of grouped queues, as each group offers them. It has no other index,
-- as each produce to such a queue pays for it.
CREATE TABLE grouped (
  -- The slot of the partition, without the item's priority.
  partition INTEGER NOT NULL,
  name TEXT NOT NULL,
  -- 0 = ready or leased, 1 = scheduled by a producer, 2 = by a retry.
  place INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  -- The item's own.
  key INTEGER NOT NULL,
  check_sum INTEGER NOT NULL,
  PRIMARY KEY (partition, name, place, rank)
) STRICT, WITHOUT ROWID;

-- Progress of tasks that take longer than a turn.
CREATE TABLE task (
  task_id TEXT PRIMARY KEY,
  text TEXT NOT NULL,
  check_sum INTEGER NOT NULL
) STRICT;

-- Items whose checksum did not match, with whatever could be read of them.
CREATE TABLE quarantine (
  quarantine_id INTEGER PRIMARY KEY,
  key INTEGER NOT NULL,
  columns TEXT NOT NULL,
  payload BLOB
) STRICT;

CREATE TABLE identity (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  -- The tags of ids: each opening of the store adds its own.
  tag TEXT NOT NULL,
  check_sum INTEGER NOT NULL
) STRICT;
