// The worker of a thread of shards: a composition root.

import { runShardThread } from "./threads/shard-thread.ts";

runShardThread();
