// The text in which requests and reports cross between threads. JSON, because
// its writer and reader are native and strings cross by copying bytes; payload
// bytes become base64, and what a lease brings is passed beside it as it is, so
// that it is not quoted again.

import type { LeasedItem } from "./api.ts";
import { decodeKey, encodeKey } from "./call-key.ts";
import { kindOf, type NumberedRequest, type Request } from "./kinds.ts";
import type { Answer, Opened, Report, Value } from "./messages.ts";
import { done } from "./shard/kind.ts";
import { decodePayload, encodePayload } from "./shard/payload-text.ts";

export function encodeRequests(requests: readonly Request[]): string {
  return JSON.stringify(requests.map(encodeRequest));
}

function encodeRequest(request: Request): unknown {
  const encoded: object = kindOf(request).encode?.(request) ?? request;
  if (!("key" in request) || request.key === undefined) return encoded;
  return { ...encoded, key: encodeKey(request.key) };
}

/** They are numbered in a row, from `opFirst` on. */
export function decodeRequests(text: string, opFirst: number): NumberedRequest[] {
  const requests = JSON.parse(text) as Request[];
  return requests.map((request, index) => {
    const decoded: Request & { op?: number } = kindOf(request).decode?.(request) ?? request;
    decoded.op = opFirst + index;
    if ("key" in decoded) Object.assign(decoded, { key: decodeKey(String(decoded.key)) });
    return decoded as NumberedRequest;
  });
}

/**
 * A report: its text, then those of what it has leased. A list of texts alone crosses for a quarter
 * of what it costs within an object.
 */
export type ReportTexts = readonly [text: string, ...leased: string[]];

/** The leased items stand behind the report's text, which refers to them by their place. */
export function encodeReport(report: Report): ReportTexts {
  const leased: string[] = [];
  const answers = report.answers.map((answer) => encodeAnswer(answer, leased));
  return [JSON.stringify({ ...report, answers }), ...leased];
}

/** A request that was just done, as most are, crosses as its number. */
function encodeAnswer({ op, outcome }: Answer, leased: string[]): unknown {
  if (outcome === done) return op;
  if (!outcome.ok) return { op, outcome };
  return { op, outcome: { ...outcome, value: encodeValue(outcome.value, leased) } };
}

function decodeAnswer(answer: Answer | number): Answer {
  return typeof answer === "number" ? { op: answer, outcome: done } : answer;
}

function encodeValue(value: Value, leased: string[]): unknown {
  switch (value.kind) {
    case "leased":
      leased.push(value.items);
      return { ...value, items: "" };
    case "items":
    case "found":
    case "outbound":
      return { ...value, items: value.items.map(encodePayload) };
    case "done":
    case "nothing":
    case "copied":
    case "ahead":
    case "task":
    case "ages":
    case "due":
    case "extended":
    case "recalled":
    case "produced":
    case "holders":
    case "history":
    case "counted":
      return value;
  }
}

export function decodeReport([text, ...leased]: ReportTexts): Report {
  const report = JSON.parse(text) as Report & { answers: Answer[] };
  report.answers = report.answers.map(decodeAnswer);
  let next = 0;
  for (const { outcome } of report.answers) {
    if (!outcome.ok) continue;
    const { value } = outcome;
    if (value.kind === "leased") {
      Object.assign(value, { items: leased[next] ?? "" });
      next += 1;
    } else if (value.kind === "items" || value.kind === "found" || value.kind === "outbound") {
      for (const item of value.items) decodePayload(item);
    }
  }
  return report;
}

export function encodeOpened(opened: Opened): string {
  return JSON.stringify(opened);
}

export function decodeOpened(text: string): Opened {
  return JSON.parse(text) as Opened;
}

/** Leased items as the engine passes them to a program that embeds it. */
export function renderLeased(items: readonly LeasedItem[]): string {
  return JSON.stringify(items.map((item) => ({ ...item, payload: item.payload.toBase64() })));
}

export function readLeased(text: string): readonly LeasedItem[] {
  const items = JSON.parse(text) as (Omit<LeasedItem, "payload"> & { payload: string })[];
  return items.map((item) => ({ ...item, payload: Uint8Array.fromBase64(item.payload) }));
}
