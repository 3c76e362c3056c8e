// The HTTP side as a whole: an Elysia app made from the table of operations. It
// listens nowhere; `listen.ts` does, and tests call `app.handle`.
//
//   request → admitted (Host, Origin, how many) → path → key → body, route, reply
//
// No key is needed by probes (`/health`, `/readyz`, and `/livez`, which is not even admitted),
// and by who reads the site's public pages.

import { Elysia } from "elysia";
import {
  keyHeader,
  type OperationId,
  operations,
  pages,
  replayedHeader,
} from "../openapi/operations.ts";
import { Admission, type AdmissionOptions, type Answer, pathOf } from "./admission.ts";
import { apiPageRoutes } from "./api-page.ts";
import type { Config } from "./config.ts";
import type { Door } from "./door.ts";
import { checkContentType, Intake } from "./guards.ts";
import { liveResponse } from "./health.ts";
import { metricsType, type ServerGauges } from "./metrics.ts";
import { type PeerOptions, peerRoutes } from "./nodes/peer-routes.ts";
import { protobufAnswer, protobufReader } from "./protobuf/exchange.ts";
import { answerType } from "./protobuf/negotiation.ts";
import { jsonResponse, Refusal } from "./reply.ts";
import { requestReader } from "./request.ts";
import type { RequestLog } from "./request-log.ts";
import { Caller, JsonText, type Route } from "./routes/route.ts";
import { type LocalOptions, localServing, type Serving } from "./serving.ts";
import { Silence } from "./silence.ts";
import { isPublic } from "./site.ts";

export type AppConfig = AdmissionOptions["config"] &
  Pick<Config, "store" | "bodiesMax" | "produceBodyMax" | "importBodyMax" | "bodyMax">;

/** Answers for a path that is not of the API; `null` = nothing is there either. */
export type Site = (request: Request, path: string) => Response | null | Promise<Response | null>;

export interface FrontOptions extends AdmissionOptions {
  readonly config: AppConfig;
  readonly site?: Site;
  /** Asks for API keys; absent = nobody does. */
  readonly door?: Door;
  /** Other nodes connect here; absent = there are none. */
  readonly node?: PeerOptions;
}

export type AppOptions = LocalOptions & Omit<FrontOptions, "counts">;
export type App = Front["app"];
type Front = ReturnType<typeof createFront>;

/** With an engine in this thread. */
export function createApp(options: AppOptions): App {
  return createFront(localServing(options), { ...options, counts: options.metrics.requests }).app;
}

export function createFront(serving: Serving, options: FrontOptions) {
  const { config, site, door, requestLog, node } = options;
  const app = new Elysia({ strictPath: true });
  const admission = new Admission(options);
  const intake = new Intake(config.bodiesMax);
  const silence = new Silence((request, seconds) => app.server?.timeout(request, seconds));

  /** Admitted, and with a key where there are keys. A page asks about another origin without one. */
  function keyed(answer: Answer, path?: string) {
    if (door === undefined) return admission.around(answer, path);
    return admission.around((request) => {
      const key = door(request, () => app.server?.requestIP(request)?.address ?? null);
      requestLog?.noteKey(request, key);
      return answer(request);
    }, path);
  }

  /** What it has in hand. */
  const gauges = (): ServerGauges => ({
    requestsInFlight: admission.requestsInFlight,
    bodyBytesInFlight: intake.bytes,
  });

  async function metricsResponse(): Promise<Response> {
    const text = await serving.metrics(gauges());
    return new Response(text, { headers: { "content-type": metricsType } });
  }

  const { routes } = serving;
  if (node !== undefined) app.use(peerRoutes(node));
  for (const id of operationIds) {
    const { path } = operations[id];
    const route = routes[id] as Route<OperationId>;
    // `none`: Elysia is kept from reading the body; `request.ts` says why.
    const answer = operationAnswer({ id, route, config, intake, silence, requestLog });
    app.post(path, keyed(answer, path), { parse: "none" });
  }
  const { health, livez, readyz, metrics: metricsPage, backup } = pages;
  app.get(health.path, admission.around(serving.health, health.path));
  app.get(readyz.path, admission.around(serving.ready, readyz.path));
  // Not admitted: a server that is full, or called by another name, is not to be killed for it.
  app.get(livez.path, liveResponse);
  app.get(metricsPage.path, keyed(metricsResponse, metricsPage.path));
  const backupPage = keyed(backupAnswer(serving, silence), backup.path);
  app.post(backup.path, backupPage, { parse: "none" });
  for (const [path, answer] of apiPageRoutes()) app.get(path, keyed(answer, path));
  const elsewhere = elsewhereAnswer(site);
  const [forAll, forKeys] = [admission.around(elsewhere), keyed(elsewhere)];
  app.all("/*", (context) => (isPublicPage(context.request) ? forAll : forKeys)(context), {
    parse: "none",
  });
  return { app, gauges };
}

interface OperationOptions {
  readonly id: OperationId;
  readonly route: Route<OperationId>;
  readonly config: AppConfig;
  readonly intake: Intake;
  readonly silence: Silence;
  readonly requestLog: RequestLog | undefined;
}

function operationAnswer(options: OperationOptions): Answer {
  const { id, route, config, intake, silence, requestLog } = options;
  const bodyBytesMax = bodyBytesMaxOf(id, config);
  type Body = Parameters<typeof route>[0];
  const { request: schema } = operations[id];
  const read = requestReader<Body>(schema, bodyBytesMax, protobufReader(id));
  const answerProtobuf = protobufAnswer(id);
  return async (request) => {
    const sent = checkContentType(request);
    const bytes = intake.take(request, bodyBytesMax);
    try {
      const body = await read(request, sent !== null);
      requestLog?.noteQueue(request, body);
      // From here to the answer the connection is silent by right. Not earlier, or a body
      // could trickle in for ever.
      silence.begin(request);
      const { signal, headers } = request;
      const caller = new Caller({ signal, requestKey: headers.get(keyHeader) });
      const reply = await route(body, caller);
      const type = answerType(request, sent);
      const response =
        type === null
          ? jsonResponse(reply instanceof JsonText ? reply.text : JSON.stringify(reply))
          : answerProtobuf(reply, type);
      if (caller.isReplayed) response.headers.set(replayedHeader, "true");
      return response;
    } finally {
      intake.giveBack(bytes);
      silence.end(request);
    }
  };
}

function backupAnswer({ backup }: Serving, silence: Silence): Answer {
  return async (request) => {
    // A page may post a form to any site without asking.
    checkContentType(request);
    silence.begin(request);
    try {
      return await backup();
    } finally {
      silence.end(request);
    }
  };
}

/** What has no path of its own: the site's pages, wrong methods, and what is not there. */
function elsewhereAnswer(site: Site | undefined): Answer {
  return async (request) => {
    const path = pathOf(request);
    const allowed = methodOf.get(path);
    if (allowed !== undefined) {
      const message = `http method '${request.method}' not allowed; only ${allowed}`;
      throw new Refusal("wrong_method", message, { allow: allowed });
    }
    const response = isRead(request) ? await site?.(request, path) : null;
    if (response) return response;
    throw new Refusal("no_such_path", `path does not exist; got '${path.slice(0, 80)}'`);
  };
}

function isRead({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

function isPublicPage(request: Request): boolean {
  return isRead(request) && isPublic(pathOf(request));
}

const operationIds = Object.keys(operations) as readonly OperationId[];

/** The one method that a path takes. */
const methodOf: ReadonlyMap<string, string> = new Map([
  ...Object.values(operations).map(({ path }) => [path, "POST"] as const),
  ...Object.values(pages).map(({ path, method }) => [path, method] as const),
]);

function bodyBytesMaxOf(id: OperationId, config: AppConfig): number {
  if (id === "produce" || id === "transact") return config.produceBodyMax;
  return id === "importItems" ? config.importBodyMax : config.bodyMax;
}
