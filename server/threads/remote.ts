// What another thread does for this one: routes, and what is told of the server as a whole.

import { type OperationId, operations } from "../../openapi/operations.ts";
import type { Call } from "../calls/call.ts";
import type { Grant } from "../key-rights.ts";
import { jsonResponse } from "../reply.ts";
import { Caller, type Routes } from "../routes/route.ts";
import type { Serving } from "../serving.ts";
import type { Link } from "./link.ts";

/** What is asked of the server as a whole has nobody who could hang up early. */
const patient = new AbortController();

/** The routes of a shard there, or, for `null`, those of the server as a whole. */
export function routesOver(link: Link, shard: number | null): Routes {
  const routes = Object.keys(operations).map((id) => [
    id,
    (body: unknown, caller: Caller) => {
      const { requestKey } = caller;
      const operation = id as OperationId;
      const call = { operation, shard, body: caller.jsonOf(body), requestKey };
      return link.ask({ ...call, ...grantOf(caller) }, caller);
    },
  ]);
  return Object.fromEntries(routes) as Routes;
}

export function wholeOver(link: Link): Omit<Serving, "routes"> {
  const whole = (
    operation: "health" | "readyz" | "metrics" | "backup",
    grant: Grant | null = null,
  ) => {
    const caller = new Caller({ client: patient, requestKey: null, grant });
    const call = { operation, shard: null, body: "", requestKey: null };
    return link.ask({ ...call, ...grantOf(caller) }, caller);
  };
  const json = async (reply: ReturnType<typeof whole>) => jsonResponse((await reply).text);
  return {
    health: () => json(whole("health")),
    ready: () => json(whole("readyz")),
    metrics: async () => (await whole("metrics")).text,
    backup: (grant) => json(whole("backup", grant)),
  };
}

function grantOf({ grant }: Caller): Pick<Call, "grant"> {
  return grant === null ? {} : { grant };
}
