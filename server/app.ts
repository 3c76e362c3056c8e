// The HTTP side as a whole: an Elysia app made from the table of operations. It
// listens nowhere; `listen.ts` does, and tests call `app.handle`.
//
//   request → admitted (Host, Origin, how many) → path → key → body, route, reply

import { Elysia } from "elysia";
import { type OperationId, operations, pages } from "../openapi/operations.ts";
import { apiPageRoutes } from "./api-page.ts";
import { backupPath } from "./backup.ts";
import type { Config } from "./config.ts";
import type { Door } from "./door.ts";
import {
  checkContentType,
  Intake,
  isPreflight,
  preflightResponse,
  shareWith,
  siteGuard,
} from "./guards.ts";
import { type HealthOptions, healthResponse } from "./health.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { protobufAnswer, protobufReader, refusalForm } from "./protobuf/exchange.ts";
import { answerType } from "./protobuf/negotiation.ts";
import { jsonResponse, Refusal, refusalResponse } from "./reply.ts";
import { requestReader } from "./request.ts";
import { queueRoutes } from "./routes/queue.ts";
import { queuesRoutes } from "./routes/queues.ts";
import { JsonText, type Route, type Routes } from "./routes/route.ts";
import { storageRoutes } from "./routes/storage.ts";
import { Silence } from "./silence.ts";

export type AppConfig = Pick<
  Config,
  | "host"
  | "store"
  | "allowedHosts"
  | "allowedOrigins"
  | "connectionsMax"
  | "bodiesMax"
  | "produceBodyMax"
  | "importBodyMax"
  | "bodyMax"
>;

/** Answers for a path that is not of the API; `null` = nothing is there either. */
export type Site = (request: Request, path: string) => Response | null | Promise<Response | null>;

export interface AppOptions extends HealthOptions {
  readonly config: AppConfig;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly site?: Site;
  /** Writes a backup; absent = none are made. */
  readonly backup?: () => Promise<Response>;
  /** Asks for API keys; absent = nobody does. */
  readonly door?: Door;
}

type Answer = (request: Request) => Response | Promise<Response>;

interface Context {
  readonly request: Request;
}

export type App = ReturnType<typeof createApp>;

export function createApp(options: AppOptions) {
  const { engine, log, metrics, config, site, door } = options;
  const admit = siteGuard(config);
  const intake = new Intake(config.bodiesMax);
  const silence = new Silence((request, seconds) => app.server?.timeout(request, seconds));
  let requestsInFlight = 0;

  /** Goes around every answer there is. Only what has no path of its own is asked for its path. */
  function admitted(answer: Answer, path?: string): (context: Context) => Promise<Response> {
    const count = path === undefined ? null : metrics.counterOf(path);
    return async ({ request }) => {
      const started = performance.now();
      requestsInFlight += 1;
      let origin: string | null = null;
      let response: Response;
      try {
        origin = admit(request);
        if (requestsInFlight > config.connectionsMax) {
          throw new Refusal(429, "too many requests are being worked on; try again later");
        }
        response =
          origin !== null && isPreflight(request) ? preflightResponse() : await answer(request);
      } catch (error) {
        response = refusalResponse(error, log, refusalForm(request));
      }
      // A refusal too, or the page would take it for a broken network.
      if (origin !== null) shareWith(origin, response);
      requestsInFlight -= 1;
      const seconds = (performance.now() - started) / 1000;
      (count ?? metrics.counterOf(pathOf(request)))(response.status, seconds);
      return response;
    };
  }

  /** What needs a key, where there are keys. A page asks about another origin without one. */
  function keyed(answer: Answer): Answer {
    if (door === undefined) return answer;
    return (request) => {
      door(request, () => app.server?.requestIP(request)?.address ?? null);
      return answer(request);
    };
  }

  function operation(id: OperationId, route: Route<OperationId>): Answer {
    const bodyBytesMax = bodyBytesMaxOf(id, config);
    const read = requestReader<Parameters<typeof route>[0]>(
      operations[id].request,
      bodyBytesMax,
      protobufReader(id),
    );
    const answerProtobuf = protobufAnswer(id);
    return async (request) => {
      const sent = checkContentType(request);
      const bytes = intake.take(request, bodyBytesMax);
      try {
        const body = await read(request, sent !== null);
        // From here to the answer the connection is silent by right. Not earlier, or a body
        // could trickle in for ever.
        silence.begin(request);
        const reply = await route(body, request);
        const type = answerType(request, sent);
        if (type !== null) return answerProtobuf(reply, type);
        return jsonResponse(reply instanceof JsonText ? reply.text : JSON.stringify(reply));
      } finally {
        intake.giveBack(bytes);
        silence.end(request);
      }
    };
  }

  async function metricsResponse(): Promise<Response> {
    const text = await metrics.render({ requestsInFlight, bodyBytesInFlight: intake.bytes });
    return new Response(text, { headers: { "content-type": metrics.contentType } });
  }

  async function backUp(request: Request): Promise<Response> {
    // A page may post a form to any site without asking.
    checkContentType(request);
    silence.begin(request);
    try {
      if (options.backup !== undefined) return await options.backup();
      throw new Refusal(453, "backups are off; start the server with --backups <folder>");
    } finally {
      silence.end(request);
    }
  }

  async function elsewhere(request: Request): Promise<Response> {
    const path = pathOf(request);
    const allowed = methodOf.get(path);
    if (allowed !== undefined) {
      const message = `http method '${request.method}' not allowed; only ${allowed}`;
      throw new Refusal(405, message, { allow: allowed });
    }
    const isRead = request.method === "GET" || request.method === "HEAD";
    const response = isRead ? await site?.(request, path) : null;
    return response ?? refuse(new Refusal(404, `path does not exist; got '${path.slice(0, 80)}'`));
  }

  const routes: Routes = {
    ...queueRoutes(engine),
    ...queuesRoutes(engine),
    ...storageRoutes(engine),
  };
  const app = new Elysia({ strictPath: true });
  for (const id of operationIds) {
    const { path } = operations[id];
    const answer = operation(id, routes[id] as Route<OperationId>);
    // `none`: Elysia is kept from reading the body; `request.ts` says why.
    app.post(path, admitted(keyed(answer), path), { parse: "none" });
  }
  const { health, metrics: metricsPage } = pages;
  app.get(
    health.path,
    admitted(() => healthResponse(options), health.path),
  );
  app.get(metricsPage.path, admitted(keyed(metricsResponse), metricsPage.path));
  app.post(backupPath, admitted(keyed(backUp)), { parse: "none" });
  for (const [path, answer] of apiPageRoutes()) app.get(path, admitted(keyed(answer), path));
  app.all("/*", admitted(keyed(elsewhere)), { parse: "none" });
  return app;
}

const operationIds = Object.keys(operations) as readonly OperationId[];

/** The one method that a path of the contract takes. */
const methodOf: ReadonlyMap<string, string> = new Map([
  ...Object.values(operations).map(({ path }) => [path, "POST"] as const),
  ...Object.values(pages).map(({ path }) => [path, "GET"] as const),
]);

function bodyBytesMaxOf(id: OperationId, config: AppConfig): number {
  if (id === "produce") return config.produceBodyMax;
  return id === "importItems" ? config.importBodyMax : config.bodyMax;
}

/** With a `Host` that is none, a request's URL is a path, which `new URL` would refuse. */
function pathOf({ url }: Request): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("//") + 2);
  const query = url.indexOf("?", start);
  return query === -1 ? url.slice(start) : url.slice(start, query);
}

function refuse(refusal: Refusal): never {
  throw refusal;
}
