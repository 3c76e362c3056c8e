-- One schema holds one shard: its queues, and all items of all its partitions. "shard" stands for
-- its name.
--
-- What a producer gave is kept as bytes, because PostgreSQL's texts cannot hold a zero.

-- The chain of turns: whoever owns the shard appends the next one behind its own, and so proves
-- that nobody else has committed since. A row without a record is the beginning of an owner.
CREATE TABLE shard.turn (
  position bigint PRIMARY KEY,
  owner bytea NOT NULL,
  -- What became of its requests, and the tallies that it changed, as JSON.
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
  past bytea,
  -- Kind, encoding, reference and headers of each item as JSON; null = empty, all of them.
  texts bytea[],
  payloads bytea[] NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (slot, seq)
  -- A pack fits on a page; beside it, it would be four rows and four entries of an index more.
) WITH (toast_tuple_target = 8160);
ALTER TABLE shard.item ALTER payloads SET STORAGE EXTERNAL;
CREATE INDEX ON shard.item (expire_deadline, slot, seq) WHERE early;
CREATE INDEX ON shard.item (source_id, slot) WHERE source_id IS NOT NULL;

-- Items that have left a pack of which others are still there.
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

-- As of some turn: no row is written anew with each one, the later turns say what changed.
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

-- How far tasks have come that go on for longer than a turn.
CREATE TABLE shard.task (task_id text PRIMARY KEY, text text NOT NULL);

-- Items that were set aside, with all that was left of them.
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
  -- What ids begin with, by their numbers: each opening of the store adds its own.
  tag text NOT NULL,
  -- Its instants are those of a test clock, and may be far ahead.
  test_clock boolean NOT NULL
);
