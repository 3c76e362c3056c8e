// The text in which requests and reports cross between threads. JSON, because
// its writer and reader are native and strings cross by copying bytes; payload
// bytes become base64, and what a lease brings is passed beside it as it is, so
// that it is not quoted again.

import type { LeasedItem } from "./api.ts";
import type { Answer, NewItem, NumberedRequest, Opened, Report } from "./messages.ts";

/** How bytes look inside JSON; no other value of a message has this key. */
interface Bytes {
  readonly base64: string;
}

function packBytes(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? ({ base64: value.toBase64() } satisfies Bytes) : value;
}

function unpack(item: { payload: unknown }): void {
  const { payload } = item;
  if (typeof payload === "object" && payload !== null && "base64" in payload) {
    item.payload = Uint8Array.fromBase64((payload as Bytes).base64);
  }
}

function hasBytes(requests: readonly NumberedRequest[]): boolean {
  for (const request of requests) {
    if (request.kind === "receive") return true;
    if (request.kind !== "produce" && request.kind !== "import") continue;
    for (const { payload } of request.items) if (typeof payload !== "string") return true;
  }
  return false;
}

/**
 * A new item that is text and nothing else crosses as that text: most are, and
 * writing and reading four empty fields takes longer than the payload does.
 */
function packProduce(request: NumberedRequest): unknown {
  if (request.kind !== "produce") return request;
  return { ...request, items: request.items.map((item) => (isPlain(item) ? item.payload : item)) };
}

function isPlain({ payload, kind, encoding, reference, enqueueAt }: NewItem): boolean {
  return (
    typeof payload === "string" &&
    kind === "" &&
    encoding === "" &&
    reference === "" &&
    enqueueAt === null
  );
}

function unpackProduce(item: NewItem | string): NewItem {
  if (typeof item === "string") {
    return { payload: item, kind: "", encoding: "", reference: "", enqueueAt: null };
  }
  unpack(item as { payload: unknown });
  return item;
}

export function encodeRequests(requests: readonly NumberedRequest[]): string {
  const packed = requests.map(packProduce);
  // A replacer makes JSON.stringify several times slower.
  return hasBytes(requests) ? JSON.stringify(packed, packBytes) : JSON.stringify(packed);
}

export function decodeRequests(text: string): NumberedRequest[] {
  const requests = JSON.parse(text) as NumberedRequest[];
  for (const request of requests) {
    if (request.kind === "produce") {
      (request as { items: readonly NewItem[] }).items = request.items.map(unpackProduce);
    } else if (request.kind === "import" || request.kind === "receive") {
      for (const item of request.items) unpack(item as { payload: unknown });
    }
  }
  return requests;
}

/** The report's text, and the leased items it refers to by their place. */
export function encodeReport(report: Report): { text: string; leased: string[] } {
  const leased: string[] = [];
  const answers = report.answers.map((answer): Answer => {
    const { outcome } = answer;
    if (!outcome.ok || outcome.value.kind !== "leased") return answer;
    leased.push(outcome.value.items);
    return { op: answer.op, outcome: { ok: true, value: { ...outcome.value, items: "" } } };
  });
  return { text: JSON.stringify({ ...report, answers }, packBytes), leased };
}

export function decodeReport(text: string, leased: readonly string[]): Report {
  const report = JSON.parse(text) as Report;
  for (const item of report.outbound) unpack(item as { payload: unknown });
  let next = 0;
  for (const { outcome } of report.answers) {
    if (!outcome.ok) continue;
    const { value } = outcome;
    if (value.kind === "leased") {
      (value as { items: string }).items = leased[next] ?? "";
      next += 1;
    } else if (value.kind === "items") {
      for (const item of value.items) unpack(item as { payload: unknown });
    }
  }
  return report;
}

export function encodeOpened(opened: Opened): string {
  return JSON.stringify(opened, packBytes);
}

export function decodeOpened(text: string): Opened {
  const opened = JSON.parse(text) as Opened;
  for (const item of opened.outbound) unpack(item as { payload: unknown });
  return opened;
}

/** Leased items as the engine passes them to a program that embeds it. */
export function renderLeased(items: readonly LeasedItem[]): string {
  return JSON.stringify(items.map((item) => ({ ...item, payload: item.payload.toBase64() })));
}

export function readLeased(text: string): readonly LeasedItem[] {
  const items = JSON.parse(text) as (Omit<LeasedItem, "payload"> & { payload: string })[];
  return items.map((item) => ({ ...item, payload: Uint8Array.fromBase64(item.payload) }));
}
