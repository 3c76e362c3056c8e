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
import { checkOf, decoded, done, JsonText, type Routes } from "./route.ts";

type ItemRoutes = Routes<
  "produce" | "lease" | "retry" | "complete" | "extend" | "release" | "transact"
>;

export function itemRoutes(engine: Engine<string>): ItemRoutes {
  return {
    async produce(body, caller) {
      const request = decoded(checkOf(engine, body), () => produceRequest(body));
      const produced = caller.heard(await engine.produce(caller.asks(request)));
      const { duplicates, ids } = produced;
      return duplicates.length === 0 && ids === undefined ? done : produceReply(produced);
    },

    async lease(body, caller) {
      const request = decoded(checkOf(engine, body), () => leaseRequest(body, caller.signal));
      const lease = await engine.lease(caller.asks(request));
      return new JsonText(leaseReplyText(caller.heard(lease)));
    },

    async retry(body, caller) {
      const request = decoded(checkOf(engine, body), () => retryRequest(body));
      caller.heard(await engine.retry(caller.asks(request)));
      return done;
    },

    async complete(body, caller) {
      const request = decoded(checkOf(engine, body), () => completeRequest(body));
      caller.heard(await engine.complete(caller.asks(request)));
      return done;
    },

    async extend(body, caller) {
      const request = decoded(checkOf(engine, body), () => extendRequest(body));
      const { leaseDeadline, now } = caller.heard(await engine.extend(caller.asks(request)));
      return { lease_deadline: instantText(leaseDeadline), now: instantText(now) };
    },

    async release(body, caller) {
      const request = decoded(checkOf(engine, body), () => releaseRequest(body));
      caller.heard(await engine.release(caller.asks(request)));
      return done;
    },

    async transact(body, caller) {
      const check = () => {
        for (const part of [body.complete, body.retry, body.produce]) {
          for (const one of part ?? []) checkOf(engine, one)();
        }
      };
      const request = decoded(check, () => transactRequest(body));
      return transactReply(caller.heard(await engine.transact(caller.asks(request))));
    },
  };
}
