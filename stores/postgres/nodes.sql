-- The nodes of a cluster, and the owner of each shard in this database. "nodes" stands for the
-- schema's name. Instants are milliseconds by the database's clock, which all nodes share.

CREATE TABLE nodes.node (
  -- Where other nodes reach it. Only one process can listen there, so it also identifies the node.
  url text PRIMARY KEY,
  -- The node accepts any process that can read this key: the database is the root of trust.
  key text NOT NULL,
  version text NOT NULL,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  -- The node is shutting down.
  draining boolean NOT NULL,
  -- An operator asked the node to give up its shards.
  drain_requested boolean NOT NULL
);

-- Shard i of the cluster is in database i modulo "databases".
CREATE TABLE nodes.cluster (
  one bigint PRIMARY KEY CHECK (one = 1),
  shards bigint NOT NULL,
  database bigint NOT NULL,
  databases bigint NOT NULL
);

-- The owner of each shard in this database. After lease_until another node may take over.
CREATE TABLE nodes.shard (
  shard bigint PRIMARY KEY,
  -- NULL: free.
  url text,
  epoch bigint NOT NULL,
  lease_until bigint NOT NULL,
  -- The node that the last owner gave the shard up for.
  meant_for text,
  -- When the shard was last taken over; NULL: never.
  taken_at bigint
);
