-- One schema contains one shard: its queues, and all items of its partitions. "shard" stands for
-- its name.
--
-- The producer's fields are bytes, because PostgreSQL's texts cannot contain a zero byte.

-- The chain of turns. The shard's owner appends the next turn after its own last one, which proves
-- that no other owner has committed since. A row without a record begins a new ownership.
CREATE TABLE shard.turn (
  position bigint PRIMARY KEY,
  owner bytea NOT NULL,
  -- The turn's number, instant and tag, and the tallies that it changed, as JSON.
  record text
);

-- Ready and leased items. A row is a pack: neighbours that share their instants and attempts.
CREATE TABLE shard.item (
  slot bigint,
  seq bigint,
  count bigint NOT NULL,
  created_at bigint NOT NULL,
  queued_at bigint NOT NULL,
  expire_deadline bigint NOT NULL,
  early boolean NOT NULL,
  attempts bigint NOT NULL,
  source_id bytea,
  -- Of each item, here and below; null = all empty.
  past bytea[],
  -- Kind, encoding, reference and headers as JSON.
  texts bytea[],
  payloads bytea[] NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (slot, seq)
  -- So that a pack stays on its page; out of line it would take four more rows and index entries.
) WITH (toast_tuple_target = 8160);
ALTER TABLE shard.item ALTER payloads SET STORAGE EXTERNAL;
CREATE INDEX ON shard.item (expire_deadline, slot, seq) WHERE early;
CREATE INDEX ON shard.item (source_id, slot) WHERE source_id IS NOT NULL;

-- Items that have left a pack whose other items remain.
CREATE TABLE shard.gone (slot bigint, seq bigint, PRIMARY KEY (slot, seq));

CREATE TABLE shard.scheduled (
  slot bigint,
  seq bigint,
  created_at bigint NOT NULL,
  queued_at bigint NOT NULL,
  expire_deadline bigint NOT NULL,
  attempts bigint NOT NULL,
  source_id bytea,
  past bytea,
  texts bytea,
  payload bytea NOT NULL,
  due_at bigint NOT NULL,
  retried boolean NOT NULL,
  -- The earlier of due_at and expire_deadline.
  wake_at bigint NOT NULL,
  PRIMARY KEY (slot, seq)
);
ALTER TABLE shard.scheduled ALTER payload SET STORAGE EXTERNAL;
CREATE INDEX ON shard.scheduled (wake_at, slot, seq);
CREATE INDEX ON shard.scheduled (source_id, slot) WHERE source_id IS NOT NULL;

CREATE TABLE shard.outbound (
  outbound_seq bigint PRIMARY KEY,
  target_shard bigint NOT NULL,
  target_owner bigint NOT NULL,
  slot bigint NOT NULL,
  seq bigint NOT NULL,
  created_at bigint NOT NULL,
  queued_at bigint NOT NULL,
  expire_deadline bigint NOT NULL,
  early boolean NOT NULL,
  attempts bigint NOT NULL,
  source_id bytea,
  past bytea,
  texts bytea,
  payload bytea NOT NULL
);
ALTER TABLE shard.outbound ALTER payload SET STORAGE EXTERNAL;
CREATE INDEX ON shard.outbound (target_shard, outbound_seq);

CREATE TABLE shard.lease (
  slot bigint,
  first bigint,
  last bigint NOT NULL,
  lease_deadline bigint NOT NULL,
  leased_at bigint NOT NULL,
  PRIMARY KEY (slot, first)
);

-- As of some turn: rows are not rewritten by each turn, and later turns record what changed.
CREATE TABLE shard.tally (slot bigint PRIMARY KEY, tally text NOT NULL);
CREATE TABLE shard.inbound (source_shard bigint PRIMARY KEY, outbound_seq bigint NOT NULL);

CREATE TABLE shard.receipt (turn bigint PRIMARY KEY, at bigint NOT NULL, entries bytea NOT NULL);

CREATE TABLE shard.unique_key (
  digest bytea PRIMARY KEY,
  slot bigint NOT NULL,
  seq bigint NOT NULL,
  until bigint NOT NULL,
  UNIQUE (slot, seq)
);
CREATE INDEX ON shard.unique_key (until, slot, seq);

-- The items of grouped queues, as each group offers them.
CREATE TABLE shard.grouped (
  -- The slot of the partition, without the item's priority.
  partition bigint,
  name bytea,
  -- 0 = ready or leased, 1 = scheduled by a producer, 2 = by a retry.
  place bigint,
  rank bigint,
  slot bigint NOT NULL,
  seq bigint NOT NULL,
  PRIMARY KEY (partition, name, place, rank)
);

-- Progress of tasks that take longer than a turn.
CREATE TABLE shard.task (task_id text PRIMARY KEY, text text NOT NULL);

-- Quarantined items, with whatever could be read of them.
CREATE TABLE shard.quarantine (
  quarantine_id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  slot bigint NOT NULL,
  seq bigint NOT NULL,
  source_id bytea,
  past bytea,
  texts bytea,
  payload bytea
);

-- The definitions of the shard's queues, with the places of their partitions, as JSON.
CREATE TABLE shard.queue (queue_id bigint PRIMARY KEY, entry text NOT NULL);

CREATE TABLE shard.identity (
  one bigint PRIMARY KEY CHECK (one = 1),
  -- The tags of ids: each opening of the store adds its own.
  tag text NOT NULL,
  -- The instants come from a test clock and may be far ahead.
  test_clock boolean NOT NULL
);
