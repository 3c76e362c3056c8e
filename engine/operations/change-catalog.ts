// Stores created, changed and deleted queues in the commit of the turn.

import type { CatalogEntry } from "../../stores/queue.ts";
import { groupKey } from "../model/group-settings.ts";
import { done } from "../model/messages.ts";
import type { Turn } from "../turn/turn-context.ts";
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

/** The settings of the groups of a queue end with it. */
function forgetGroups(
  { changeSet, memory }: Pick<Turn, "changeSet" | "memory">,
  { places }: CatalogEntry,
): void {
  for (const { slot } of places) {
    const { settings } = memory.groups.get(slot) ?? {};
    for (const group of settings?.keys() ?? []) changeSet.tasks.set(groupKey(slot, group), "");
    settings?.clear();
  }
}

export const changeCatalog: Operation<ChangeCatalog> = {
  phase: "within",
  adds: ({ isNew }) => isNew === true,
  decide: answering(({ changeSet, memory }, { put, remove }) => {
    for (const entry of put) {
      changeSet.queues.set(entry.queueId, entry);
      if (entry.deleting) forgetGroups({ changeSet, memory }, entry);
    }
    for (const queueId of remove) changeSet.queues.set(queueId, null);
    return done;
  }),
};
