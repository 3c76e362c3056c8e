// How many of the items in its dead queue died in this queue: others may share the dead queue.

import { useAsked } from "../../api/use-query.ts";
import { useDeadQueues } from "../dead-letters/dead-queues.ts";

const everyMs = 10_000;

interface Owner {
  readonly name: string;
  /** `""` = it has none; `undefined`: not known yet. */
  readonly deadQueue: string | undefined;
  /** All items in it; `undefined`: not known yet. */
  readonly total: number | undefined;
}

export interface OwnDead {
  readonly count: number | undefined;
  /** There are more than one look counts. */
  readonly isPart: boolean;
  /** Known, or not to be had. */
  readonly isSettled: boolean;
}

export function useOwnDead({ name, deadQueue = "", total }: Owner): OwnDead {
  const queues = useDeadQueues(deadQueue !== "");
  const owners = queues.data?.find((queue) => queue.name === deadQueue)?.takesFrom ?? [];
  const isShared = owners.length > 1 && (total ?? 0) > 0;
  const filter = { origin_queue: name };
  const body = { queue_name: deadQueue, by: "origin_queue", filter } as const;
  const own = useAsked("groupItems", body, { everyMs, isWanted: isShared, keepsLast: true });
  if (total === undefined || (deadQueue !== "" && queues.isPending)) {
    return { count: undefined, isPart: false, isSettled: false };
  }
  if (!isShared) return { count: total, isPart: false, isSettled: true };
  const count = own.data?.groups.reduce((sum, group) => sum + group.count, 0);
  const isPart = own.data !== undefined && own.data.next_pivot !== "";
  return { count, isPart, isSettled: !own.isPending };
}
