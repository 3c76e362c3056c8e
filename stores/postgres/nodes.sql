-- The nodes of a cluster, and which of them owns each shard in this database. "nodes" stands for the
-- schema's name; instants are milliseconds by the database's clock, which all nodes have in common.

CREATE TABLE nodes.node (
  -- Where the others reach it; no other process can listen there, so it says which node it is too.
  url text PRIMARY KEY,
  -- A process that can read it is let in by the node: the database is the root of trust.
  key text NOT NULL,
  version text NOT NULL,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  -- It is being stopped.
  draining boolean NOT NULL,
  -- An operator wants it to be empty.
  drain_requested boolean NOT NULL
);

-- Shard i of the cluster lives in database i modulo "databases".
CREATE TABLE nodes.cluster (
  one bigint PRIMARY KEY CHECK (one = 1),
  shards bigint NOT NULL,
  database bigint NOT NULL,
  databases bigint NOT NULL
);

-- The owner of each shard in this database, until another node takes over once that instant has passed.
CREATE TABLE nodes.shard (
  shard bigint PRIMARY KEY,
  -- NULL: free.
  url text,
  epoch bigint NOT NULL,
  lease_until bigint NOT NULL,
  -- The node that the last owner gave it up for.
  meant_for text,
  -- When it was last taken over; NULL: never.
  taken_at bigint
);
