// The dead queues, from the definitions of the queues that name them.

import { ask } from "../../api/call.ts";
import { useFetched } from "../../api/use-query.ts";

export interface DeadQueue {
  readonly name: string;
  readonly takesFrom: readonly string[];
}

const pagesMax = 20;

async function deadQueues(signal: AbortSignal): Promise<readonly DeadQueue[]> {
  const found = new Map<string, string[]>();
  let pivot = "";
  for (let page = 0; page < pagesMax; page += 1) {
    const { items: queues } = await ask("listQueues", { pivot, limit: 1_000 }, { signal });
    for (const { queue_name: name, dead_queue: dead } of queues) {
      if (dead !== "") found.set(dead, [...(found.get(dead) ?? []), name]);
    }
    const last = queues.at(-1)?.queue_name;
    if (last === undefined || queues.length < 1_000) break;
    pivot = last;
  }
  return [...found].map(([name, takesFrom]) => ({ name, takesFrom }));
}

export function useDeadQueues(isEnabled = true) {
  return useFetched(["dead-queues"], deadQueues, { isEnabled, staleMs: 10_000 });
}
