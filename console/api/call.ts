// One call of the contract, typed by its operation. It fails in two ways: the server refuses
// (`Refused`), or does not answer (`NoAnswer`).

import type { OperationId, RequestOf, ResponseOf } from "../../openapi/operations.ts";
import { directionMarks } from "../format.ts";
import { noteServerTime } from "../state/server-time.ts";
import { basePath, serverUrl } from "./base-path.ts";
import { requestKey, session } from "./session.ts";

/** Only paths are needed at run time, so the contract itself stays out of the browser's code. */
export const paths = {
  listQueues: "/v1/queues.list",
  createQueue: "/v1/queues.create",
  updateQueue: "/v1/queues.update",
  queueInfo: "/v1/queues.info",
  deleteQueue: "/v1/queues.delete",
  stats: "/v1/queue.stats",
  inspect: "/v1/queue.inspect",
  explain: "/v1/queue.explain",
  clients: "/v1/queue.clients",
  pause: "/v1/queue.pause",
  resume: "/v1/queue.resume",
  clear: "/v1/queue.clear",
  produce: "/v1/queue.produce",
  lease: "/v1/queue.lease",
  overview: "/v1/server.overview",
  series: "/v1/server.series",
  whoAmI: "/v1/server.whoami",
  listNodes: "/v1/nodes.list",
  listKeys: "/v1/server.keys",
  listActions: "/v1/actions.list",
  redrive: "/v1/queue.redrive",
  confirmLoss: "/v1/losses.confirm",
  cancelTask: "/v1/tasks.cancel",
  listTasks: "/v1/tasks.list",
  findItems: "/v1/storage/items.find",
  summarizeItems: "/v1/storage/items.summarize",
  getItem: "/v1/storage/items.get",
  explainItem: "/v1/storage/items.explain",
  deleteItems: "/v1/storage/items.delete",
  retry: "/v1/queue.retry",
  repair: "/v1/queue.repair",
  taskInfo: "/v1/tasks.info",
  listGroups: "/v1/groups.list",
  setGroup: "/v1/groups.set",
} as const satisfies { readonly [Id in OperationId]?: `/v1/${string}` };

export type CallId = keyof typeof paths;

export interface Call<Id extends CallId = CallId> {
  readonly id: Id;
  readonly body: RequestOf<Id>;
}

export interface AskOptions {
  readonly signal?: AbortSignal;
}

export class Refused extends Error {
  readonly code: number;
  /** A stable word; `""` from a server that is not a Holdfast. */
  readonly reason: string;
  readonly retryAfterMs: number | null;

  constructor(code: number, body: RefusalBody, retryAfterMs: number | null) {
    super(body.message);
    this.code = code;
    this.reason = body.reason;
    this.retryAfterMs = retryAfterMs;
  }
}

export class NoAnswer extends Error {}

interface RefusalBody {
  readonly message: string;
  readonly reason: string;
}

/** By `performance.now()`: the server accepts no earlier request with that key. */
let backoff: { readonly until: number; readonly key: string | null } = { until: 0, key: null };

/** How long the server accepts no request with this key. */
export function backoffMs(): number {
  return backoff.key === session.get().key ? Math.max(0, backoff.until - performance.now()) : 0;
}

async function untilAllowed(signal: AbortSignal | undefined): Promise<void> {
  while (backoffMs() > 0) {
    await new Promise((resolve) => setTimeout(resolve, backoffMs()));
    signal?.throwIfAborted();
  }
}

export async function ask<Id extends CallId>(
  id: Id,
  body: RequestOf<Id>,
  { signal }: AskOptions = {},
): Promise<ResponseOf<Id>> {
  await untilAllowed(signal);
  const { key } = session.get();
  const headers = new Headers({ "content-type": "application/json" });
  if (key !== null) headers.set("authorization", `Bearer ${key}`);
  const started = performance.now();
  const { response, text } = await send(basePath + paths[id], {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    cache: "no-store",
    credentials: "same-origin",
    ...(signal && { signal }),
  });
  if (response.ok) {
    const reply: ResponseOf<Id> = JSON.parse(text);
    noteServerTime(reply, started);
    return reply;
  }
  const refused = new Refused(response.status, refusalIn(text, response), retryAfterMs(response));
  const waitMs = refused.retryAfterMs ?? 0;
  // The wait of a former key does not apply to its successor.
  if (waitMs > 0 && key === session.get().key && waitMs > backoffMs()) {
    backoff = { until: performance.now() + waitMs, key };
  }
  const isOfKey = refused.code === 401 || refused.reason === "wrong_keys";
  if (isOfKey) requestKey(key, { code: refused.code, message: refused.message });
  throw refused;
}

async function send(path: string, init: RequestInit) {
  try {
    const response = await fetch(path, init);
    // The answer of a proxy whose server is down.
    if (response.status === 502 || response.status === 504) throw new NoAnswer("no answer");
    return { response, text: await response.text() };
  } catch (cause) {
    if (init.signal?.aborted === true && init.signal.reason?.name === "AbortError") throw cause;
    throw new NoAnswer("no answer", { cause });
  }
}

function refusalIn(text: string, { status, statusText }: Response): RefusalBody {
  try {
    const { message = "", reason = "" } = JSON.parse(text) as Partial<RefusalBody>;
    return { message, reason };
  } catch {
    return { message: statusText || `the answer was ${status}`, reason: "" };
  }
}

function retryAfterMs({ headers }: Response): number | null {
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) ? seconds * 1_000 : null;
}

/** The escape of JSON, for characters that change the direction of text. */
function escaped(found: string): string {
  return `\\u${found.charCodeAt(0).toString(16)}`;
}

/** The call for a shell, without the key. */
export function curlOf({ id, body }: Call): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  return [
    `curl -s ${quoted(serverUrl + paths[id])}`,
    ...(session.get().key === null ? [] : [`-H "Authorization: Bearer $HOLDFAST_KEY"`]),
    `-H 'Content-Type: application/json'`,
    `-d ${quoted(JSON.stringify(body).replace(directionMarks, escaped))}`,
  ].join(" \\\n  ");
}
