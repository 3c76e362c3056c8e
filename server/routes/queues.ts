// Routes for the definitions of queues.

import type { Engine } from "../../engine/model/api.ts";
import { limits } from "../../engine/model/limits.ts";
import { checkQueueName } from "../../engine/model/validate.ts";
import { type KeyIdentity, queueTestFor, visibleTo } from "../auth/key-rights.ts";
import { HttpError } from "../http/reply.ts";
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
function listVisible(identity: KeyIdentity | null, engine: Engine<string>, page: Page) {
  const isShown = visibleTo(identity);
  let looked = engine.listQueues(page);
  let isLast = looked.length < page.limit;
  const shown = looked.filter(({ name }) => isShown(name));
  while (!isLast && shown.length < page.limit) {
    const limit = limits.queuesListMax;
    looked = engine.listQueues({ pivot: looked.at(-1)?.name ?? "", limit });
    isLast = looked.length < limit;
    // Each page starts with the last queue of the page before.
    shown.push(...looked.slice(1).filter(({ name }) => isShown(name)));
  }
  return shown.slice(0, page.limit);
}

/** Deleting a dead queue changes the queues that use it, so the key must administer these, too. */
function checkAdministers(
  identity: KeyIdentity | null,
  { name, dependents }: { readonly name: string; readonly dependents: readonly string[] },
): void {
  if (identity === null || dependents.every(queueTestFor(identity, "admin"))) return;
  const why = "it is the dead_queue of queues that the key does not administer";
  const message = `key '${identity.name}' is not allowed to delete '${name}'; ${why}`;
  throw new HttpError("not_allowed", message);
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
      const deletion = await engine.deleteQueue(request, {
        isShown: visibleTo(caller.identity),
        checkDependents: (names) => checkAdministers(caller.identity, { name, dependents: names }),
      });
      caller.countRemoved(deletion.counts);
      caller.toQueues = deletion.dependents;
      return isGuarded(guard) ? deletionReply(deletion) : done;
    },
  };
}
