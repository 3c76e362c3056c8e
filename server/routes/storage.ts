// Routes for stored items.

import { notFound } from "../../engine/insight/search.ts";
import type { Engine } from "../../engine/model/api.ts";
import { visibleTo } from "../auth/key-rights.ts";
import { guardedReply, guardOf, isGuarded } from "../wire/guards.ts";
import {
  cancelRequest,
  findRequest,
  foundItem,
  importRequest,
  itemExplained,
  itemSummary,
  listRequest,
  payloadRange,
  storageItem,
  summarizeRequest,
} from "../wire/storage.ts";
import { pageOf } from "./page.ts";
import { decodeBody, done, queueCheck, type Routes } from "./route.ts";

type StorageRoutes = Routes<
  | "listItems"
  | "listScheduled"
  | "findItems"
  | "summarizeItems"
  | "getItem"
  | "explainItem"
  | "importItems"
  | "deleteItems"
  | "cancelItems"
>;

export function storageRoutes(engine: Engine<string>): StorageRoutes {
  return {
    async listItems(body) {
      return await pageOf(await engine.listItems(listRequest(body)), storageItem);
    },

    async listScheduled(body) {
      return await pageOf(await engine.listScheduled(listRequest(body)), storageItem);
    },

    async findItems(body) {
      const { queue_name } = body;
      const request = decodeBody(queueCheck(engine, { queue_name }), () => findRequest(body));
      const { found, scanned, nextPivot } = await engine.findItems(request);
      return await pageOf(found, foundItem, { scanned, next_pivot: nextPivot });
    },

    async summarizeItems(body) {
      const { queue_name } = body;
      const request = decodeBody(queueCheck(engine, { queue_name }), () => summarizeRequest(body));
      const { found, others, scanned, nextPivot } = await engine.summarizeItems(request);
      const summaries = found.map(itemSummary);
      return { summaries, other_items: others, scanned, next_pivot: nextPivot };
    },

    async getItem(body, { identity }) {
      return foundItem(await engine.getItem(body.id, payloadRange(body), visibleTo(identity)));
    },

    async explainItem({ id }, { identity }) {
      const explained = await engine.explainItem(id);
      const isVisible = visibleTo(identity);
      const history = explained.history.filter(({ queue }) => isVisible(queue));
      const lastQueue = explained.item?.queue ?? explained.history.at(-1)?.queue;
      const known = lastQueue === undefined || isVisible(lastQueue) ? explained : notFound(id);
      const { historySince } = history.length > 0 ? explained : known;
      return itemExplained({ ...known, history, historySince });
    },

    async importItems(body, caller) {
      const request = await decodeBody(queueCheck(engine, body), () => importRequest(body));
      const { items } = caller.noteReplay(await engine.importItems(caller.withKey(request)));
      return await pageOf(items, storageItem);
    },

    async deleteItems(body, caller) {
      const { queue_name: queue, partition, ids } = body;
      const guard = guardOf(body);
      const deleted = await engine.deleteItems({ queue, partition, ids, ...guard });
      caller.countRemoved(deleted);
      return isGuarded(guard) ? guardedReply(deleted) : done;
    },

    async cancelItems(body, caller) {
      const request = decodeBody(queueCheck(engine, body), () => cancelRequest(body));
      const { items } = caller.noteReplay(await engine.cancelItems(caller.withKey(request)));
      caller.affectedItems = items.filter(({ was }) => was !== "not_found").length;
      return { items: [...items] };
    },
  };
}
