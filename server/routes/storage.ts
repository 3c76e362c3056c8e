// Items as they are stored.

import type { Engine } from "../../engine/api.ts";
import {
  guardedReply,
  guardOf,
  importRequest,
  isGuarded,
  listRequest,
  storageItem,
} from "../wire.ts";
import { pageText } from "./page.ts";
import { checkOf, decoded, done, JsonText, type Routes } from "./route.ts";

type StorageRoutes = Routes<"listItems" | "listScheduled" | "importItems" | "deleteItems">;

export function storageRoutes(engine: Engine<string>): StorageRoutes {
  return {
    async listItems(body) {
      return new JsonText(await pageText(await engine.listItems(listRequest(body))));
    },

    async listScheduled(body) {
      return new JsonText(await pageText(await engine.listScheduled(listRequest(body))));
    },

    async importItems(body, caller) {
      const request = decoded(checkOf(engine, body), () => importRequest(body));
      const { items } = caller.heard(await engine.importItems({ ...request, ...caller.key }));
      return { items: items.map(storageItem) };
    },

    async deleteItems(body) {
      const { queue_name: queue, partition, ids } = body;
      const guard = guardOf(body);
      const deleted = await engine.deleteItems({ queue, partition, ids, ...guard });
      return isGuarded(guard) ? guardedReply(deleted) : done;
    },
  };
}
