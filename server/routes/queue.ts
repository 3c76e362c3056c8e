// Items of a queue: the four verbs, and the measures and the clearing of a queue.

import type { Engine } from "../../engine/api.ts";
import {
  clearRequest,
  completeRequest,
  extendRequest,
  guardedReply,
  inspect,
  isGuarded,
  leaseReplyText,
  leaseRequest,
  pauseRequest,
  produceReply,
  produceRequest,
  queueStats,
  releaseRequest,
  retryRequest,
  seriesReply,
  seriesRequest,
} from "../wire.ts";
import { checkOf, decoded, done, JsonText, type Routes } from "./route.ts";

type QueueRoutes = Routes<
  | "produce"
  | "lease"
  | "retry"
  | "complete"
  | "extend"
  | "release"
  | "stats"
  | "inspect"
  | "series"
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
      const { duplicates, ids } = produced;
      return duplicates.length === 0 && ids === undefined ? done : produceReply(produced);
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

    async stats(body) {
      return queueStats(await engine.stats(body.queue_name), body.columns === true);
    },

    async inspect(body) {
      return inspect(await engine.inspect(body.queue_name));
    },

    async series(body) {
      const request = seriesRequest(body);
      return seriesReply(body, engine.series(request));
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
      const request = clearRequest(body);
      const cleared = await engine.clear(request);
      return isGuarded(request) ? guardedReply(cleared) : done;
    },

    async reload(body) {
      await engine.reload(body.queue_name);
      return done;
    },
  };
}
