// Routes for the definitions of queues.

import type { Engine } from "../../engine/model/api.ts";
import { limits } from "../../engine/model/limits.ts";
import { checkQueueName } from "../../engine/model/validate.ts";
import { requireAdmin } from "../auth/authorize.ts";
import { type KeyIdentity, visibleTo } from "../auth/key-rights.ts";
import { guardedReply, guardOf, isGuarded } from "../wire/guards.ts";
import {
  deletionReply,
  queueChange,
  queueInfo,
  queueNamed,
  queueSettings,
  queuesPage,
} from "../wire/queues.ts";
import { decodeBody, done, type Routes } from "./route.ts";

type QueuesRoutes = Routes<
  "listQueues" | "createQueue" | "updateQueue" | "queueInfo" | "deleteQueue"
>;

type Page = Parameters<Engine<string>["listQueues"]>[0];

/** Fills the page up to the limit, although queues that the key may not see are left out. */
function listVisible(identity: KeyIdentity | null, engine: Engine<string>, request: Page) {
  const isShown = visibleTo(identity);
  let page = engine.listQueues(request);
  let isLast = page.length < request.limit;
  const shown = page.filter(({ name }) => isShown(name));
  while (!isLast && shown.length < request.limit) {
    const limit = limits.queuesListMax;
    page = engine.listQueues({ pivot: page.at(-1)?.name ?? "", limit });
    isLast = page.length < limit;
    // Each page starts with the last queue of the previous page.
    shown.push(...page.slice(1).filter(({ name }) => isShown(name)));
  }
  return shown.slice(0, request.limit);
}

export function queuesRoutes(engine: Engine<string>): QueuesRoutes {
  // The engine checks later whether the queue exists.
  const checkName = (body: { queue_name: string }) => () => checkQueueName(body.queue_name);

  return {
    async listQueues(body, { identity }) {
      return {
        items: listVisible(identity, engine, queuesPage(body)).map(queueInfo),
        unreached: [],
      };
    },

    async createQueue(body, { identity }) {
      const settings = decodeBody(checkName(body), () => queueSettings(body));
      await engine.createQueue(settings, visibleTo(identity));
      return done;
    },

    async updateQueue(body, { identity }) {
      const change = decodeBody(checkName(body), () => queueChange(body));
      const drained = await engine.updateQueue(change, visibleTo(identity));
      return isGuarded(change) ? guardedReply(drained) : done;
    },

    async queueInfo(body) {
      return queueInfo(engine.queueInfo(queueNamed(body)));
    },

    async deleteQueue(body, caller) {
      const guard = guardOf(body);
      const name = body.queue_name;
      const request = { name, force: body.force, ...guard };
      const why = "it is the dead_queue of queues that the key does not administer";
      const denied = `is not allowed to delete '${name}'; ${why}`;
      const deletion = await engine.deleteQueue(request, {
        isShown: visibleTo(caller.identity),
        // Deleting a dead queue changes the queues that use it.
        checkDependents: (names) => requireAdmin(caller.identity, names, denied),
      });
      caller.countRemoved(deletion.counts);
      caller.toQueues = deletion.dependents;
      return isGuarded(guard) ? deletionReply(deletion) : done;
    },
  };
}
