// Routes for a queue as a whole: its statistics, pausing and clearing, and its groups.

import type { Engine } from "../../engine/model/api.ts";
import { visibleTo } from "../auth/key-rights.ts";
import { groupChange, groupInfo, groupsPage } from "../wire/groups.ts";
import { guardedReply, isGuarded } from "../wire/guards.ts";
import {
  clearRequest,
  inspect,
  pauseRequest,
  queueStats,
  seriesReply,
  seriesRequest,
} from "../wire/queue.ts";
import { done, type Routes } from "./route.ts";

type QueueRoutes = Routes<
  | ("stats" | "inspect" | "series" | "pause" | "resume" | "clear" | "reload")
  | ("listGroups" | "setGroup")
>;

export function queueRoutes(engine: Engine<string>): QueueRoutes {
  return {
    async stats(body) {
      return queueStats(await engine.stats(body.queue_name), body.columns === true);
    },

    async inspect(body, { identity }) {
      return inspect(await engine.inspect(body.queue_name, visibleTo(identity)));
    },

    async series(body) {
      const request = seriesRequest(body);
      return seriesReply(body, engine.series(request));
    },

    async pause(body, { identity }) {
      await engine.pause({ ...pauseRequest(body), by: identity?.name ?? "" });
      return done;
    },

    async resume(body) {
      await engine.resume(body.queue_name);
      return done;
    },

    async clear(body, caller) {
      const request = clearRequest(body);
      const cleared = await engine.clear(request);
      caller.countRemoved(cleared);
      return isGuarded(request) ? guardedReply(cleared) : done;
    },

    async listGroups(body) {
      const { groups, nextPivot } = await engine.listGroups(groupsPage(body));
      return { items: groups.map(groupInfo), next_pivot: nextPivot };
    },

    async setGroup(body) {
      return groupInfo(await engine.setGroup(groupChange(body)));
    },

    async reload(body) {
      await engine.reload(body.queue_name);
      return done;
    },
  };
}
