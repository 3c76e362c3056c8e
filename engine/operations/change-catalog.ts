// Queues of the shard as they are from now on, stored in the commit of the turn.

import type { CatalogEntry } from "../../stores/queue.ts";
import { answering, done, type Kind } from "./kind.ts";

export interface ChangeCatalog {
  readonly kind: "catalog";
  /** Replaced by `queueId`. */
  readonly put: readonly CatalogEntry[];
  /** By `queueId`. */
  readonly remove: readonly number[];
  /** A queue is created, which a full store refuses. */
  readonly isNew?: true;
}

export const changeCatalog: Kind<ChangeCatalog> = {
  phase: "within",
  adds: ({ isNew }) => isNew === true,
  decide: answering(({ draft }, { put, remove }) => {
    for (const entry of put) draft.queues.set(entry.queueId, entry);
    for (const queueId of remove) draft.queues.set(queueId, null);
    return done;
  }),
};
