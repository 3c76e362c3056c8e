// Routes for the items of a queue: produce, lease, and the operations on leased items.

import type { Engine } from "../../engine/model/api.ts";
import { instantText } from "../wire/fields.ts";
import {
  completeRequest,
  extendRequest,
  leaseRequest,
  produceReply,
  produceRequest,
  releaseRequest,
  retryRequest,
  transactReply,
  transactRequest,
} from "../wire/items.ts";
import { leaseReplyText } from "../wire/leased.ts";
import { decodeBody, done, JsonText, queueCheck, type Routes } from "./route.ts";

type ItemRoutes = Routes<
  "produce" | "lease" | "retry" | "complete" | "extend" | "release" | "transact"
>;

export function itemRoutes(engine: Engine<string>): ItemRoutes {
  return {
    async produce(body, caller) {
      const request = decodeBody(queueCheck(engine, body), () => produceRequest(body));
      const produced = caller.noteReplay(await engine.produce(caller.withKey(request)));
      const { duplicates, ids } = produced;
      return duplicates.length === 0 && ids === undefined ? done : produceReply(produced);
    },

    async lease(body, caller) {
      const request = decodeBody(queueCheck(engine, body), () => leaseRequest(body, caller.signal));
      const lease = await engine.lease(caller.withKey(request));
      return new JsonText(leaseReplyText(caller.noteReplay(lease)));
    },

    async retry(body, caller) {
      const request = decodeBody(queueCheck(engine, body), () => retryRequest(body));
      caller.noteReplay(await engine.retry(caller.withKey(request)));
      return done;
    },

    async complete(body, caller) {
      const request = decodeBody(queueCheck(engine, body), () => completeRequest(body));
      caller.noteReplay(await engine.complete(caller.withKey(request)));
      return done;
    },

    async extend(body, caller) {
      const request = decodeBody(queueCheck(engine, body), () => extendRequest(body));
      const { leaseDeadline, now } = caller.noteReplay(
        await engine.extend(caller.withKey(request)),
      );
      return { lease_deadline: instantText(leaseDeadline), now: instantText(now) };
    },

    async release(body, caller) {
      const request = decodeBody(queueCheck(engine, body), () => releaseRequest(body));
      caller.noteReplay(await engine.release(caller.withKey(request)));
      return done;
    },

    async transact(body, caller) {
      const check = () => {
        for (const part of [body.complete, body.retry, body.produce]) {
          for (const one of part ?? []) queueCheck(engine, one)();
        }
      };
      const request = decodeBody(check, () => transactRequest(body));
      return transactReply(caller.noteReplay(await engine.transact(caller.withKey(request))));
    },
  };
}
