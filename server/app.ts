// The HTTP application: an Elysia app built from the table of operations. It does not listen;
// `listen.ts` does that, and tests call `app.handle`.
//
//   request → admission (Host, Origin, limit) → path → API key → body, route, reply
//
// The probes `/health`, `/readyz` and `/livez` need no key, and `/livez` skips admission too. Pages
// and their assets contain no secrets and need no key either.

import { Elysia } from "elysia";
import {
  keyHeader,
  type OperationId,
  operations,
  pages,
  replayedHeader,
} from "../openapi/operations.ts";
import { queueFinder, queueRoles } from "../openapi/queue-names.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import { authorizerFor, roleCheck } from "./auth/authorize.ts";
import type { KnownKey } from "./auth/key-file.ts";
import type { KeyIdentity } from "./auth/key-rights.ts";
import type { Config } from "./config/settings.ts";
import { Admission, type AdmissionOptions, pathOf } from "./http/admission.ts";
import { apiPageRoutes } from "./http/api-page.ts";
import { Intake } from "./http/body/intake.ts";
import { IdleTimeouts } from "./http/connections/idle-timeouts.ts";
import { checkContentType } from "./http/guards.ts";
import type { OperationHandlers } from "./http/operation-handlers.ts";
import { answerResponse, HttpError, jsonType } from "./http/reply.ts";
import { requestReader } from "./http/request.ts";
import { type PeerOptions, peerRoutes } from "./nodes/peer-routes.ts";
import { liveResponse } from "./observability/health.ts";
import { metricsType, type ServerGauges } from "./observability/metrics.ts";
import type { RequestLog } from "./observability/request-log.ts";
import { protobufReader, protobufWriter } from "./protobuf/exchange.ts";
import { answerType } from "./protobuf/negotiation.ts";
import { Caller, jsonText, needsIdentity, type Route } from "./routes/route.ts";

export type AppConfig = AdmissionOptions["config"] &
  Pick<Config, "store" | "bodiesMax" | "produceBodyMax" | "importBodyMax" | "bodyMax"> &
  Partial<Pick<Config, "basePath">>;

/** Serves paths outside the API; `null` = not found. */
export type Site = (
  request: Request,
  path: string,
  /** The part of the URL's path in front of `path`; default `""`. */
  prefix?: string,
) => Response | null | Promise<Response | null>;

export interface HttpAppOptions extends AdmissionOptions {
  readonly config: AppConfig;
  readonly site?: Site;
  /** Absent = no API keys are required. */
  readonly authenticate?: Authenticator;
  /** Other nodes connect here; absent = there are none. */
  readonly node?: PeerOptions;
}

export type App = HttpApp["app"];
type HttpApp = ReturnType<typeof createHttpApp>;

/** `key`: `null` = no API key is required. */
type KeyedHandler = (request: Request, key: KnownKey | null) => Response | Promise<Response>;

export function createHttpApp(handlers: OperationHandlers, options: HttpAppOptions) {
  const { config, site, authenticate, requestLog, node } = options;
  const { basePath = "" } = config;
  const app = new Elysia({ strictPath: true });
  const intake = new Intake(config.bodiesMax);
  const admission = new Admission(options, () => intake.rejectSlowest());
  const idleTimeouts = new IdleTimeouts((request, seconds) =>
    app.server?.timeout(request, seconds),
  );
  const { get, post } = addRoutes(app, basePath);

  function requireKey(request: Request): KnownKey | null {
    if (authenticate === undefined) return null;
    const key = authenticate(request, () => app.server?.requestIP(request)?.address ?? null);
    requestLog?.noteKey(request, key.name);
    return key;
  }

  /** Admits and authenticates. A preflight is answered without a key. */
  const keyed = (handler: KeyedHandler, path: string) =>
    admission.wrap((request) => handler(request, requireKey(request)), path);

  /** Requests and bytes in progress. */
  const gauges = (): ServerGauges => ({
    requestsInFlight: admission.requestsInFlight,
    bodyBytesInFlight: intake.bytes,
  });

  if (node !== undefined) app.use(peerRoutes(node));
  for (const id of operationIds) {
    const { path } = operations[id];
    const route = handlers.routes[id] as Route<OperationId>;
    post(
      path,
      keyed(operationHandler({ id, route, config, intake, idleTimeouts, requestLog }), path),
    );
  }
  const { health, livez, readyz, metrics, backup } = pages;
  get(health.path, admission.wrap(handlers.health, health.path));
  get(readyz.path, admission.wrap(handlers.ready, readyz.path));
  // No admission: being full or addressed by another host name is not a reason for a restart.
  get(livez.path, liveResponse);
  get(metrics.path, keyed(metricsHandler(handlers, gauges, idleTimeouts), metrics.path));
  post(backup.path, keyed(backupHandler(handlers, idleTimeouts), backup.path));
  for (const [path, handler] of apiPageRoutes({ basePath, hasKeys: authenticate !== undefined }))
    get(path, admission.wrap(handler));
  const fallback = fallbackHandler({ site, requireKey, basePath });
  app.all("/*", admission.wrap(fallback), { parse: "none" });
  return { app, gauges };
}

/** Adds each route at its path and, if there is a base path, below that as well. */
function addRoutes(app: Elysia, basePath: string) {
  type Handler = (context: { readonly request: Request }) => Response | Promise<Response>;
  const pathsOf = (path: string) => (basePath === "" ? [path] : [path, basePath + path]);
  return {
    get: (path: string, handler: Handler): void => {
      for (const place of pathsOf(path)) app.get(place, handler);
    },
    // `none`: Elysia must not read the body; `request.ts` explains why.
    post: (path: string, handler: Handler): void => {
      for (const place of pathsOf(path)) app.post(place, handler, { parse: "none" });
    },
  };
}

interface OperationOptions {
  readonly id: OperationId;
  readonly route: Route<OperationId>;
  readonly config: AppConfig;
  readonly intake: Intake;
  readonly idleTimeouts: IdleTimeouts;
  readonly requestLog: RequestLog | undefined;
}

function operationHandler(options: OperationOptions): KeyedHandler {
  const { id, route, config, intake, idleTimeouts, requestLog } = options;
  const bodyBytesMax = bodyBytesMaxOf(id, config);
  type Body = Parameters<typeof route>[0];
  const { request: schema } = operations[id];
  const read = requestReader<Body>(schema, protobufReader(id));
  const writeProtobuf = protobufWriter(id);
  const requireRole = roleCheck(operations[id], queueRoles(schema));
  const authorize = authorizerFor(operations[id], queueFinder(schema));
  const needsKeyIdentity = needsIdentity(id);
  return async (request, key) => {
    const type = checkContentType(request);
    if (key !== null) requireRole(key);
    const received = intake.begin();
    let answerBytes = 0;
    try {
      const bytes = await intake.read(request, received, bodyBytesMax);
      const sent = await read(bytes, request, type !== null);
      const { body } = sent;
      // A lease may wait for minutes, and would keep its body in memory.
      const kept = id === "lease" ? {} : { sent };
      requestLog?.noteQueue(request, body);
      if (key !== null) authorize(key, body);
      // From here to the response the connection may be idle. Not earlier, or a body could trickle
      // in forever.
      idleTimeouts.begin(request);
      const requestKey = request.headers.get(keyHeader);
      const identity = needsKeyIdentity && key ? identityOf(key) : null;
      const caller = new Caller({ client: request, requestKey, identity, ...kept });
      const reply = await route(body, caller);
      const wanted = answerType(request, type);
      const answer = wanted === null ? jsonText(reply) : await writeProtobuf(reply);
      answerBytes = answer.length;
      const response = answerResponse(answer, wanted ?? jsonType);
      if (caller.isReplayed) response.headers.set(replayedHeader, "true");
      return response;
    } finally {
      intake.end(received);
      idleTimeouts.end(request, answerBytes);
    }
  };
}

function metricsHandler(
  { metrics }: OperationHandlers,
  gauges: () => ServerGauges,
  idleTimeouts: IdleTimeouts,
): KeyedHandler {
  const authorize = authorizerFor(pages.metrics.needs);
  return async (request, key) => {
    if (key !== null) authorize(key);
    const text = await metrics(gauges());
    idleTimeouts.end(request, text.length);
    return new Response(text, { headers: { "content-type": metricsType } });
  };
}

function backupHandler({ backup }: OperationHandlers, idleTimeouts: IdleTimeouts): KeyedHandler {
  const authorize = authorizerFor(pages.backup.needs);
  return async (request, key) => {
    // A page may post a form to any site without a preflight.
    checkContentType(request);
    if (key !== null) authorize(key);
    idleTimeouts.begin(request);
    try {
      return await backup(key && identityOf(key));
    } finally {
      idleTimeouts.end(request, 0);
    }
  };
}

interface FallbackOptions {
  readonly site: Site | undefined;
  readonly basePath: string;
  readonly requireKey: (request: Request) => unknown;
}

/** Answers all other paths: pages of the site, wrong methods, unknown paths. */
function fallbackHandler({ site, basePath, requireKey }: FallbackOptions) {
  return async (request: Request): Promise<Response> => {
    const path = pathOf(request);
    const isBelow = basePath !== "" && path.startsWith(`${basePath}/`);
    const inner = isBelow ? path.slice(basePath.length) : path;
    const allowed = methodOf.get(inner);
    // Pages of the site use links from the root; those of the console work below a prefix.
    const prefix = isBelow && /^\/console(\/|$)/.test(inner) ? basePath : "";
    const isPage = allowed === undefined && isRead(request);
    const page = isPage ? await site?.(request, path.slice(prefix.length), prefix) : null;
    if (page) return page;
    requireKey(request);
    if (allowed !== undefined) {
      const message = `http method '${request.method}' not allowed; only ${allowed}`;
      throw new HttpError("wrong_method", message, { allow: allowed });
    }
    throw new HttpError("no_such_path", `path does not exist; got '${path.slice(0, 80)}'`);
  };
}

function isRead({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
}

/** The part of a key that is sent to the thread or node with the engine. */
function identityOf({ name, rights }: KnownKey): KeyIdentity {
  return { name, rights };
}

const operationIds = Object.keys(operations) as readonly OperationId[];

/** The only method of each path. */
const methodOf: ReadonlyMap<string, string> = new Map([
  ...Object.values(operations).map(({ path }) => [path, "POST"] as const),
  ...Object.values(pages).map(({ path, method }) => [path, method] as const),
]);

function bodyBytesMaxOf(id: OperationId, config: AppConfig): number {
  if (id === "produce" || id === "transact") return config.produceBodyMax;
  return id === "importItems" ? config.importBodyMax : config.bodyMax;
}
