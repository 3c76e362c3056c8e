// Items of a queue: the four verbs, and the measures and the clearing of a queue.

import type { Engine } from "../../engine/api.ts";
import { doneText } from "../reply.ts";
import {
  clearRequest,
  completeRequest,
  inspect,
  leaseReplyText,
  leaseRequest,
  produceRequest,
  queueStats,
  retryRequest,
} from "../wire.ts";
import { decoded, JsonText, type Routes } from "./route.ts";

type QueueRoutes = Routes<
  "produce" | "lease" | "retry" | "complete" | "stats" | "inspect" | "clear" | "reload"
>;

const done = new JsonText(doneText);

export function queueRoutes(engine: Engine<string>): QueueRoutes {
  const checkOf = (body: { queue_name: string; partition?: number }) => () =>
    engine.requireQueue(body.queue_name, body.partition);

  return {
    async produce(body) {
      await engine.produce(
        decoded({ checkName: checkOf(body), decode: () => produceRequest(body) }),
      );
      return done;
    },

    async lease(body, caller) {
      const request = decoded({
        checkName: checkOf(body),
        decode: () => leaseRequest(body, caller.signal),
      });
      return new JsonText(leaseReplyText(await engine.lease(request)));
    },

    async retry(body) {
      await engine.retry(decoded({ checkName: checkOf(body), decode: () => retryRequest(body) }));
      return done;
    },

    async complete(body) {
      await engine.complete(
        decoded({ checkName: checkOf(body), decode: () => completeRequest(body) }),
      );
      return done;
    },

    async stats(body) {
      return queueStats(await engine.stats(body.queue_name));
    },

    async inspect(body) {
      return inspect(await engine.inspect(body.queue_name));
    },

    async clear(body) {
      await engine.clear(clearRequest(body));
      return done;
    },

    async reload(body) {
      await engine.reload(body.queue_name);
      return done;
    },
  };
}
