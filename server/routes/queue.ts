// Items of a queue: the four verbs, and the measures and the clearing of a queue.

import type { Engine } from "../../engine/api.ts";
import {
  clearRequest,
  completeRequest,
  extendRequest,
  inspect,
  leaseReplyText,
  leaseRequest,
  pauseRequest,
  produceReply,
  produceRequest,
  queueStats,
  releaseRequest,
  retryRequest,
  transactReply,
  transactRequest,
} from "../wire.ts";
import { checkOf, decoded, done, JsonText, type Routes } from "./route.ts";

type QueueRoutes = Routes<
  | "produce"
  | "lease"
  | "retry"
  | "complete"
  | "extend"
  | "release"
  | "transact"
  | "stats"
  | "inspect"
  | "pause"
  | "resume"
  | "clear"
  | "reload"
>;

export function queueRoutes(engine: Engine<string>): QueueRoutes {
  return {
    async produce(body, caller) {
      const request = decoded(checkOf(engine, body), () => produceRequest(body));
      const produced = caller.heard(await engine.produce({ ...request, ...caller.key }));
      return produced.duplicates.length === 0 ? done : produceReply(produced);
    },

    async lease(body, caller) {
      const request = decoded(checkOf(engine, body), () => leaseRequest(body, caller.signal));
      const lease = await engine.lease({ ...request, ...caller.key });
      return new JsonText(leaseReplyText(caller.heard(lease)));
    },

    async retry(body, caller) {
      const request = decoded(checkOf(engine, body), () => retryRequest(body));
      caller.heard(await engine.retry({ ...request, ...caller.key }));
      return done;
    },

    async complete(body, caller) {
      const request = decoded(checkOf(engine, body), () => completeRequest(body));
      caller.heard(await engine.complete({ ...request, ...caller.key }));
      return done;
    },

    async extend(body, caller) {
      const request = decoded(checkOf(engine, body), () => extendRequest(body));
      const { leaseDeadline } = caller.heard(await engine.extend({ ...request, ...caller.key }));
      return { lease_deadline: new Date(leaseDeadline).toISOString() };
    },

    async release(body, caller) {
      const request = decoded(checkOf(engine, body), () => releaseRequest(body));
      caller.heard(await engine.release({ ...request, ...caller.key }));
      return done;
    },

    async transact(body, caller) {
      const check = () => {
        for (const part of [body.complete, body.retry, body.produce]) {
          for (const one of part ?? []) checkOf(engine, one)();
        }
      };
      const request = decoded(check, () => transactRequest(body));
      return transactReply(caller.heard(await engine.transact({ ...request, ...caller.key })));
    },

    async stats(body) {
      return queueStats(await engine.stats(body.queue_name));
    },

    async inspect(body) {
      return inspect(await engine.inspect(body.queue_name));
    },

    async pause(body) {
      await engine.pause(pauseRequest(body));
      return done;
    },

    async resume(body) {
      await engine.resume(body.queue_name);
      return done;
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
