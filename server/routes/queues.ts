// Definitions of queues.

import type { Engine } from "../../engine/api.ts";
import { checkQueueName } from "../../engine/validate.ts";
import {
  deletionReply,
  guardedReply,
  guardOf,
  isGuarded,
  queueChange,
  queueInfo,
  queueNamed,
  queueSettings,
  queuesPage,
} from "../wire.ts";
import { decoded, done, type Routes } from "./route.ts";

type QueuesRoutes = Routes<
  "listQueues" | "createQueue" | "updateQueue" | "queueInfo" | "deleteQueue"
>;

export function queuesRoutes(engine: Engine<string>): QueuesRoutes {
  // Whether it exists is asked later, when its definition was understood.
  const checkName = (body: { queue_name: string }) => () => checkQueueName(body.queue_name);

  return {
    async listQueues(body) {
      return { items: engine.listQueues(queuesPage(body)).map(queueInfo) };
    },

    async createQueue(body) {
      await engine.createQueue(decoded(checkName(body), () => queueSettings(body)));
      return done;
    },

    async updateQueue(body) {
      const change = decoded(checkName(body), () => queueChange(body));
      const drained = await engine.updateQueue(change);
      return isGuarded(change) ? guardedReply(drained) : done;
    },

    async queueInfo(body) {
      return queueInfo(engine.queueInfo(queueNamed(body)));
    },

    async deleteQueue(body) {
      const guard = guardOf(body);
      const name = body.queue_name;
      const deletion = await engine.deleteQueue({ name, force: body.force, ...guard });
      return isGuarded(guard) ? deletionReply(deletion) : done;
    },
  };
}
