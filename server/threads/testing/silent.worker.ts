// The thread of a shard that never says how its shard is, as one that is busy for ever.

import { runShardThread } from "../shard-thread.ts";

addEventListener("message", (event: MessageEvent<{ readonly method?: string }>) => {
  if (event.data.method === "status") event.stopImmediatePropagation();
});
runShardThread();
