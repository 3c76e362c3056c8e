// A thread that never says how its shards are, as one that is busy for ever.

import { runShardThread } from "../shard-thread.ts";

addEventListener("message", (event: MessageEvent<{ readonly method?: string }>) => {
  if (event.data.method === "status") event.stopImmediatePropagation();
});
runShardThread();
