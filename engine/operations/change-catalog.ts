// Stores created, changed and deleted queues in the commit of the turn.

import type { CatalogEntry } from "../../stores/queue.ts";
import { done } from "../model/messages.ts";
import { answering, type Operation } from "./operation.ts";

export interface ChangeCatalog {
  readonly kind: "catalog";
  /** Each replaces the entry with its `queueId`. */
  readonly put: readonly CatalogEntry[];
  /** Values of `queueId`. */
  readonly remove: readonly number[];
  /** Creates a queue, which a full store refuses. */
  readonly isNew?: true;
}

export const changeCatalog: Operation<ChangeCatalog> = {
  phase: "within",
  adds: ({ isNew }) => isNew === true,
  decide: answering(({ changeSet }, { put, remove }) => {
    for (const entry of put) changeSet.queues.set(entry.queueId, entry);
    for (const queueId of remove) changeSet.queues.set(queueId, null);
    return done;
  }),
};
