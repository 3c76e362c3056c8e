// A thread that never answers `status`, like one that is busy forever.

import { runShardThread } from "../shard-thread.ts";

addEventListener("message", (event: MessageEvent<{ readonly method?: string }>) => {
  if (event.data.method === "status") event.stopImmediatePropagation();
});
runShardThread();
