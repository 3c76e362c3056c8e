-- Who shares the shards of one database. "nodes" stands for the schema's name; instants are
-- milliseconds by the database's clock, which is the one that all of them have in common.

CREATE TABLE nodes.node (
  -- Where the others reach it; nobody else can listen there, so it says who it is too.
  url text PRIMARY KEY,
  -- Whoever can read it is let in by the node: the database is the root of trust.
  key text NOT NULL,
  version text NOT NULL,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  draining boolean NOT NULL
);

-- The one node that has the shards, until somebody takes them over once that instant has passed.
CREATE TABLE nodes.owner (
  one bigint PRIMARY KEY CHECK (one = 1),
  url text,
  epoch bigint NOT NULL,
  lease_until bigint NOT NULL
);
INSERT INTO nodes.owner VALUES (1, NULL, 0, 0);
