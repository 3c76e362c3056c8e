// The HTTP side as a whole: an Elysia app made from the table of operations. It
// listens nowhere; `listen.ts` does, and tests call `app.handle`.
//
//   request → admitted (Host, Origin, how many) → path → body, route, reply

import { Elysia } from "elysia";
import { type OperationId, operations, pages } from "../openapi/operations.ts";
import { apiPageRoutes } from "./api-page.ts";
import type { Config } from "./config.ts";
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
import { jsonResponse, Refusal, refusalResponse } from "./reply.ts";
import { requestReader } from "./request.ts";
import { queueRoutes } from "./routes/queue.ts";
import { queuesRoutes } from "./routes/queues.ts";
import { JsonText, type Route, type Routes } from "./routes/route.ts";
import { storageRoutes } from "./routes/storage.ts";

/** Seconds of silence after which a connection is closed that is not waiting for an answer. */
export const idleTimeoutSeconds = 30;

export type AppConfig = Pick<
  Config,
  | "host"
  | "store"
  | "allowedHosts"
  | "allowedOrigins"
  | "connectionsMax"
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
}

type Answer = (request: Request) => Response | Promise<Response>;

export type App = ReturnType<typeof createApp>;

export function createApp(options: AppOptions) {
  const { engine, log, metrics, config, site } = options;
  const admit = siteGuard(config);
  const intake = new Intake();
  let requestsInFlight = 0;

  /** Goes around everything, and so answers for, and counts, every request there is. */
  async function admitted(answer: Answer, request: Request): Promise<Response> {
    const started = performance.now();
    requestsInFlight += 1;
    let response: Response;
    try {
      const origin = admit(request);
      if (requestsInFlight > config.connectionsMax) {
        throw new Refusal(429, "too many requests are being worked on; try again later");
      }
      response =
        origin !== null && isPreflight(request) ? preflightResponse() : await answer(request);
      if (origin !== null) shareWith(origin, response);
    } catch (error) {
      response = refusalResponse(error, log);
    }
    requestsInFlight -= 1;
    metrics.count(pathOf(request), response.status, (performance.now() - started) / 1000);
    return response;
  }

  function operation(id: OperationId, route: Route<OperationId>): Answer {
    const bodyBytesMax = bodyBytesMaxOf(id, config);
    const read = requestReader<Parameters<typeof route>[0]>(operations[id].request, bodyBytesMax);
    return async (request) => {
      let bytes = 0;
      try {
        checkContentType(request);
        bytes = intake.take(request, bodyBytesMax);
        const body = await read(request);
        // From here to the answer the connection is silent by right. Not earlier, or a body
        // could trickle in for ever; and not longer, because a lifted limit stays lifted.
        app.server?.timeout(request, 0);
        const reply = await route(body, request);
        return jsonResponse(reply instanceof JsonText ? reply.text : JSON.stringify(reply));
      } catch (error) {
        return refusalResponse(error, log);
      } finally {
        intake.giveBack(bytes);
        app.server?.timeout(request, idleTimeoutSeconds);
      }
    };
  }

  /** For what is not an operation. Elysia is left no error to answer in its own words. */
  function page(answer: Answer): (context: { request: Request }) => Promise<Response> {
    return async ({ request }) => {
      try {
        return await answer(request);
      } catch (error) {
        return refusalResponse(error, log);
      }
    };
  }

  async function metricsResponse(): Promise<Response> {
    const text = await metrics.render({ requestsInFlight, bodyBytesInFlight: intake.bytes });
    return new Response(text, { headers: { "content-type": metrics.contentType } });
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
  app.wrap((answer) => (request: Request) => admitted(answer as unknown as Answer, request));
  for (const id of operationIds) {
    const answer = operation(id, routes[id] as Route<OperationId>);
    // `none`: Elysia is kept from reading the body; `request.ts` says why.
    app.post(operations[id].path, ({ request }) => answer(request), { parse: "none" });
  }
  app.get(
    pages.health.path,
    page(() => healthResponse(options)),
  );
  app.get(pages.metrics.path, page(metricsResponse));
  for (const [path, answer] of apiPageRoutes()) app.get(path, page(answer));
  app.all("/*", page(elsewhere), { parse: "none" });
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
