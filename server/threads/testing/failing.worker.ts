// A thread with planted faults: it fails when one of these methods is called.

import { runShardThread } from "../shard-thread.ts";

const faults: Readonly<Record<string, () => void>> = {
  status: () => {
    throw new Error("planted; thrown");
  },
  figures: () => {
    void Promise.reject(new Error("planted; rejected"));
  },
  hold: () => process.exit(0),
};

addEventListener("message", ({ data }: MessageEvent<{ readonly method?: string }>) => {
  const fault = data.method === undefined ? undefined : faults[data.method];
  if (fault !== undefined) setImmediate(fault);
});
runShardThread();
