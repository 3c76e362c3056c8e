// Converts the fields of requests and replies: durations, instants, bytes and words. Malformed
// texts are refused here, because the engine only sees values and has the rules about these. An
// optional key may also be `null`, which means absent.

import type { ProduceItem } from "../../engine/model/api.ts";
import {
  never,
  neverText,
  parseDuration,
  pending,
  pendingText,
} from "../../engine/model/duration.ts";
import { limits } from "../../engine/model/limits.ts";
import { checkLength, refuse } from "../../engine/model/validate.ts";
import { forms } from "../../openapi/forms.ts";

/** Characters of a refused text that are quoted back. */
const quotedMax = 40;

export function wordOf<T extends string>(text: string, what: string, words: readonly T[]): T {
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  const expected = `expected ${words.map((word) => `'${word}'`).join(" or ")}`;
  return refuse(`${what} is invalid; ${expected}, got '${text.slice(0, quotedMax)}'`);
}

/** Most calls have the same timeout as the call before. */
let latestTimeout = { text: "", ms: 0 };

export function requestTimeout(text: string): number {
  if (text !== latestTimeout.text) {
    latestTimeout = { text, ms: durationOf(text, "request timeout", "900ms, 5m or 15m") };
  }
  return latestTimeout.ms;
}

/** For operations in which `request_timeout` is optional. */
export function ownRequestTimeout({ request_timeout: text }: { request_timeout?: string | null }) {
  return !isGiven(text) || text === "" ? {} : { requestTimeoutMs: requestTimeout(text) };
}

/** `null`: the timeout of the queue. */
export function leaseTimeout(text: string | null | undefined): number | null {
  if (!isGiven(text) || text === "") return null;
  checkLength("lease timeout", text.length, limits.durationTextMax);
  return durationOf(text, "lease timeout", "8m, 15m or 1h");
}

export function retryAfter(text: string): number {
  checkLength("retry after", text.length, limits.durationTextMax);
  return durationOf(text, "retry after", "30s, 15m or 1h");
}

/** `null`: not given. The order of the checks is that of the reference implementation. */
export function queueTimeouts(leaseTimeout: string | null, expireTimeout: string | null) {
  const leaseTimeoutText = leaseTimeout ?? "";
  const expireTimeoutText = expireTimeout ?? "";
  checkLength("lease timeout", leaseTimeoutText.length, limits.durationTextMax);
  checkLength("expire timeout", expireTimeoutText.length, limits.durationTextMax);
  const expireTimeoutMs = orNever(expireTimeoutText, "expire timeout", "60m, 2h or 24h");
  const leaseTimeoutMs = durationOf(leaseTimeoutText, "lease timeout", "8m, 15m or 1h");
  return { leaseTimeoutMs, leaseTimeoutText, expireTimeoutMs, expireTimeoutText };
}

/** An empty text means that the queue refuses unique keys. */
export function uniqueFor(uniqueForText: string) {
  checkLength("unique for", uniqueForText.length, limits.durationTextMax);
  const uniqueForMs =
    uniqueForText === pendingText
      ? pending
      : durationOf(uniqueForText, "unique for", "1h, 7d or pending");
  return { uniqueForMs, uniqueForText };
}

export function priorityAging(priorityAgingText: string) {
  checkLength("priority aging", priorityAgingText.length, limits.durationTextMax);
  const priorityAgingMs = orNever(priorityAgingText, "priority aging", "60s, 10m or never");
  return { priorityAgingMs, priorityAgingText };
}

function orNever(text: string, what: string, formats: string): number {
  return text === neverText ? never : durationOf(text, what, formats);
}

/** An empty text means that the duration is not set, which the engine refuses if necessary. */
export function durationOf(text: string, what: string, formats: string): number {
  if (text === "") return 0;
  const parsed = parseDuration(text);
  if (parsed.ok) return parsed.ms;
  return refuse(`${what} is invalid; ${parsed.message} - expected format: ${formats}`);
}

/** The namespace that clients of the protocol send by default. */
const systemNamespace = "_system";

export function checkNamespace(name: string | null | undefined): void {
  if (!name || name === systemNamespace) return;
  refuse(`namespace does not exist; '${quoted(name)}' was not found`);
}

/** Stricter than `Temporal`. */
const dateTime = new RegExp(forms.dateTime);

const zone = /[Zz]$|[+-]\d\d:\d\d$/;

/** Absent, `null` and `""` mean no instant. */
export function instantNamed(text: string | null | undefined, key: string): number | null {
  if (text === undefined || text === null || text === "") return null;
  const got = text.slice(0, quotedMax);
  return (
    parseInstant(text) ??
    refuse(`${key} is invalid; expected a date-time like 2026-01-01T00:00:00Z, got '${got}'`)
  );
}

/** For a key of an item in a list. */
export function instantOf(
  text: string | null | undefined,
  index: number,
  key: string,
): number | null {
  if (text === undefined || text === null || text === "") return null;
  const expected = "a date-time like 2026-01-01T00:00:00Z";
  return parseInstant(text) ?? refuseText(text, index, key, expected);
}

/**
 * Returns the epoch milliseconds of a date-time; `null` if it is malformed, or if its day or time
 * does not exist. Fractions of a millisecond are rounded up, so that nothing is due, lapses or
 * expires before the given instant.
 */
export function parseInstant(text: string): number | null {
  if (!dateTime.test(text)) return null;
  try {
    const instant = Temporal.Instant.from(zone.test(text) ? text : `${text}Z`);
    const ms = instant.round({ smallestUnit: "millisecond", roundingMode: "ceil" });
    return ms.epochMilliseconds <= limits.instantMax ? ms.epochMilliseconds : null;
  } catch {
    return null;
  }
}

let written = { instant: Number.NaN, text: "" };

/** Caches the last instant: leases of a turn mostly share a deadline, and replies a `now`. */
export function instantText(instant: number): string {
  if (written.instant !== instant) written = { instant, text: new Date(instant).toISOString() };
  return written.text;
}

export function instantTextOrNull(instant: number | null): string | null {
  return instant === null ? null : instantText(instant);
}

/** Accepts both alphabets, with or without padding and line breaks, and refuses anything else. */
export function bytesOf(text: string, index: number, key: string): ProduceItem["payload"] {
  return parseBase64(text) ?? refuseText(text, index, key, "base64");
}

/** Loose decoding would drop bits of a truncated text. */
const standard = { alphabet: "base64", lastChunkHandling: "strict" } as const;

const urlSafe = { alphabet: "base64url", lastChunkHandling: "strict" } as const;

/** By the number of characters missing to a multiple of four; three is never valid. */
const paddings = ["", "=", "=="] as const;

/** Returns the bytes of a base64 text; `null` if it is malformed. Blanks are ignored. */
export function parseBase64(text: string): Uint8Array | null {
  const options = /[-_]/.test(text) ? urlSafe : standard;
  if (text.includes("=")) return decodeBase64(text, options);
  const likely = paddings[-text.length & 3] ?? "";
  // If the text has blanks, its length does not determine the padding. Trying all paddings is
  // faster than removing the blanks from megabytes of text.
  for (const padding of [likely, ...paddings.filter((other) => other !== likely)]) {
    const bytes = decodeBase64(text + padding, options);
    if (bytes !== null) return bytes;
  }
  return null;
}

function decodeBase64(text: string, options: typeof standard | typeof urlSafe): Uint8Array | null {
  try {
    return Uint8Array.fromBase64(text, options);
  } catch {
    return null;
  }
}

export function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

/** Omits absent keys. All keys must be listed, so that a new one of `T` is not forgotten. */
export function given<T extends object>(
  values: {
    readonly [Key in keyof T]-?: T[Key] | null | undefined;
  },
): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => isGiven(value))) as T;
}

function refuseText(text: string, index: number, key: string, expected: string): never {
  const got = quoted(text);
  return refuse(`items[${index}].${key} is invalid; expected ${expected}, got '${got}'`);
}

function quoted(text: string): string {
  return text.length > quotedMax ? `${text.slice(0, quotedMax)}…` : text;
}
