// Entry point of a worker thread that runs shards: a composition root.

import { runShardThread } from "./threads/shard-thread.ts";

runShardThread();
