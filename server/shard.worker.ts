// The worker of the thread of one shard: a composition root.

import { runShardThread } from "./threads/shard-thread.ts";

runShardThread();
