// A thread that speaks HTTP: takes connections, reads and checks requests, writes replies. What
// they ask for is done by the thread that has the engine, which receives frames of calls.

import { type OperationId, operations } from "../../openapi/operations.ts";
import { createFront } from "../app.ts";
import type { Call } from "../calls/call.ts";
import { CallClient } from "../calls/call-client.ts";
import { replyOf } from "../calls/call-server.ts";
import { openDoor } from "../door.ts";
import { KeyFile } from "../key-file.ts";
import type { Grant } from "../key-rights.ts";
import { ListenError, type Listening, listen } from "../listen.ts";
import { createLog } from "../log.ts";
import type { ServerGauges } from "../metrics.ts";
import { jsonResponse } from "../reply.ts";
import { RequestCounts } from "../request-counts.ts";
import { RequestLog } from "../request-log.ts";
import { Caller, type JsonText, type Routes } from "../routes/route.ts";
import type { Serving } from "../serving.ts";
import { openSite } from "../site.ts";
import type { FromThread, ThreadOptions, ToThread } from "./messages.ts";

declare const self: Worker;

const say = (message: FromThread): void => self.postMessage(message);

/** What is asked of the server as a whole has nobody who could hang up early. */
const patient = new AbortController();

export function runHttpThread(): void {
  const callClient = new CallClient(say);
  callClient.open();
  const counts = new RequestCounts();
  let listening: Listening | null = null;
  let keys: KeyFile | null = null;
  let gauges = (): ServerGauges => ({ requestsInFlight: 0, bodyBytesInFlight: 0 });

  const open = ({ config, port, tls, site }: ThreadOptions): void => {
    const log = createLog({ level: config.logLevel });
    const now = () => performance.now();
    const { apiKeysFile: path } = config;
    keys = path === "" ? null : new KeyFile({ path, log, now });
    const front = createFront(servingOver(callClient), {
      ...{ config, log, counts, site: openSite(site) },
      ...(config.logLevel === "debug" && { requestLog: new RequestLog(log) }),
      ...(keys !== null && { door: openDoor({ keys, log, now }) }),
    });
    gauges = front.gauges;
    listening = listen(front.app, { ...config, port, tls, isShared: true });
    say({ kind: "listening", url: listening.url });
  };

  self.onmessage = ({ data: message }: MessageEvent<ToThread>) => {
    if (typeof message === "string") {
      callClient.receive(message);
      return;
    }
    switch (message.kind) {
      case "open":
        try {
          open(message.options);
        } catch (error) {
          if (!(error instanceof ListenError)) throw error;
          say({ kind: "refused", code: error.code, message: error.message });
        }
        return;
      case "count":
        say({ kind: "counted", counted: counts.asked, gauges: gauges(), keys: keys?.infos ?? [] });
        return;
      case "renew":
        listening?.renew(message.tls);
        return;
      case "stop":
        void Promise.resolve(listening?.stop(message.timeoutMs)).then(() =>
          say({ kind: "stopped" }),
        );
        return;
    }
  };
}

/** All by the engine of another thread. */
function servingOver(callClient: CallClient): Serving {
  const ask = async (call: Call, caller: Caller): Promise<JsonText> => {
    const answer = await callClient.call(call, caller);
    if (answer.is === "unsent") throw new Error("the engine is gone");
    return replyOf(answer, caller);
  };
  const whole = (
    operation: "health" | "readyz" | "metrics" | "backup",
    grant: Grant | null = null,
  ): Promise<JsonText> => {
    const caller = new Caller({ client: patient, requestKey: null, grant });
    return ask({ operation, body: "", requestKey: null, ...grantOf(caller) }, caller);
  };
  const json = async (reply: Promise<JsonText>) => jsonResponse((await reply).text);
  const routes = Object.keys(operations).map((id) => [
    id,
    (body: unknown, caller: Caller) => {
      const { requestKey } = caller;
      const call = { operation: id as OperationId, body: JSON.stringify(body), requestKey };
      return ask({ ...call, ...grantOf(caller) }, caller);
    },
  ]);
  return {
    routes: Object.fromEntries(routes) as Routes,
    health: () => json(whole("health")),
    ready: () => json(whole("readyz")),
    metrics: async () => (await whole("metrics")).text,
    backup: (grant) => json(whole("backup", grant)),
  };
}

function grantOf({ grant }: Caller): Pick<Call, "grant"> {
  return grant === null ? {} : { grant };
}
