// Definitions of queues.

import type { Engine } from "../../engine/api.ts";
import { checkQueueName } from "../../engine/validate.ts";
import { doneText } from "../reply.ts";
import { queueChange, queueInfo, queueNamed, queueSettings, queuesPage } from "../wire.ts";
import { decoded, JsonText, type Routes } from "./route.ts";

type QueuesRoutes = Routes<
  "listQueues" | "createQueue" | "updateQueue" | "queueInfo" | "deleteQueue"
>;

const done = new JsonText(doneText);

export function queuesRoutes(engine: Engine<string>): QueuesRoutes {
  // Whether it exists is asked later, when its definition was understood.
  const checkOf = (body: { queue_name: string }) => () => checkQueueName(body.queue_name);

  return {
    async listQueues(body) {
      return { items: engine.listQueues(queuesPage(body)).map(queueInfo) };
    },

    async createQueue(body) {
      await engine.createQueue(
        decoded({ checkName: checkOf(body), decode: () => queueSettings(body) }),
      );
      return done;
    },

    async updateQueue(body) {
      await engine.updateQueue(
        decoded({ checkName: checkOf(body), decode: () => queueChange(body) }),
      );
      return done;
    },

    async queueInfo(body) {
      return queueInfo(engine.queueInfo(queueNamed(body)));
    },

    async deleteQueue(body) {
      await engine.deleteQueue({ name: body.queue_name, force: body.force });
      return done;
    },
  };
}
