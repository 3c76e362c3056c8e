// What requests and replies are made of, between the wire and the engine: durations, instants, bytes,
// words. What is malformed as text is refused here, because only here is it text; rules about values
// are the engine's. A key that may be absent may also be `null`, which says the same; a reply has the
// type of the contract, so that a forgotten field does not compile.

import type * as engine from "../../engine/model/api.ts";
import { never, neverText, parseDuration } from "../../engine/model/duration.ts";
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

/** Most calls ask for the same as the call before. */
let latestTimeout = { text: "", ms: 0 };

export function requestTimeout(text: string): number {
  if (text !== latestTimeout.text) {
    latestTimeout = { text, ms: durationOf(text, "request timeout", "900ms, 5m or 15m") };
  }
  return latestTimeout.ms;
}

/** Of a call that can do without. */
export function ownRequestTimeout({ request_timeout: text }: { request_timeout?: string | null }) {
  return !isGiven(text) || text === "" ? {} : { requestTimeoutMs: requestTimeout(text) };
}

/** Of one lease; `null` = that of the queue. */
export function leaseTimeout(text: string | null | undefined): number | null {
  if (!isGiven(text) || text === "") return null;
  checkLength("lease timeout", text.length, limits.durationTextMax);
  return durationOf(text, "lease timeout", "8m, 15m or 1h");
}

export function retryAfter(text: string): number {
  checkLength("retry after", text.length, limits.durationTextMax);
  return durationOf(text, "retry after", "30s, 15m or 1h");
}

/** `null` = not given. The order of the checks is the reference's. */
export function queueTimeouts(leaseTimeout: string | null, expireTimeout: string | null) {
  const leaseTimeoutText = leaseTimeout ?? "";
  const expireTimeoutText = expireTimeout ?? "";
  checkLength("lease timeout", leaseTimeoutText.length, limits.durationTextMax);
  checkLength("expire timeout", expireTimeoutText.length, limits.durationTextMax);
  const expireTimeoutMs =
    expireTimeoutText === neverText
      ? never
      : durationOf(expireTimeoutText, "expire timeout", "60m, 2h or 24h");
  const leaseTimeoutMs = durationOf(leaseTimeoutText, "lease timeout", "8m, 15m or 1h");
  return { leaseTimeoutMs, leaseTimeoutText, expireTimeoutMs, expireTimeoutText };
}

/** An empty text: the queue takes no unique keys. */
export function uniqueFor(uniqueForText: string) {
  checkLength("unique for", uniqueForText.length, limits.durationTextMax);
  return { uniqueForMs: durationOf(uniqueForText, "unique for", "1h, 24h or 7d"), uniqueForText };
}

/** An empty text is a duration that is not set, which is for the engine to refuse. */
export function durationOf(text: string, what: string, formats: string): number {
  if (text === "") return 0;
  const parsed = parseDuration(text);
  if (parsed.ok) return parsed.ms;
  return refuse(`${what} is invalid; ${parsed.message} - expected format: ${formats}`);
}

/** The one that clients of the protocol call theirs when they are told of no other. */
const systemNamespace = "_system";

export function checkNamespace(name: string | null | undefined): void {
  if (!name || name === systemNamespace) return;
  refuse(`namespace does not exist; '${shortened(name)}' was not found`);
}

/** Less than what `Temporal` reads. */
const dateTime = new RegExp(forms.dateTime);

const zone = /[Zz]$|[+-]\d\d:\d\d$/;

/** Absent, `null` and `""` are no instant. */
export function instantNamed(text: string | null | undefined, key: string): number | null {
  if (text === undefined || text === null || text === "") return null;
  const got = text.slice(0, quotedMax);
  return (
    parseInstant(text) ??
    refuse(`${key} is invalid; expected a date-time like 2026-01-01T00:00:00Z, got '${got}'`)
  );
}

/** The same within a list. */
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
 * Epoch milliseconds of a date-time; `null` when it is none, or names a day or time that is none.
 * A part of a millisecond counts as a whole one, so that nothing is due, lapses or expires before
 * the instant that was given.
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

/** The instant before is remembered: what a turn leases mostly ends at one, and its replies have one `now`. */
export function instantText(instant: number): string {
  if (written.instant !== instant) written = { instant, text: new Date(instant).toISOString() };
  return written.text;
}

export function instantTextOrNull(instant: number | null): string | null {
  return instant === null ? null : instantText(instant);
}

/** Either alphabet, with or without its padding and line breaks; anything else is refused. */
export function bytesOf(text: string, index: number, key: string): engine.Payload {
  return parseBase64(text) ?? refuseText(text, index, key, "base64");
}

/** Loose reading would drop bits of a text that was cut off. */
const standard = { alphabet: "base64", lastChunkHandling: "strict" } as const;

const urlSafe = { alphabet: "base64url", lastChunkHandling: "strict" } as const;

/** By how many characters it lacks to a multiple of four; a text that lacks three is none. */
const paddings = ["", "=", "=="] as const;

/** The bytes of a base64 text; `null` when it is none. Blanks anywhere in it mean nothing. */
export function parseBase64(text: string): Uint8Array | null {
  const options = /[-_]/.test(text) ? urlSafe : standard;
  if (text.includes("=")) return decodeBase64(text, options);
  const likely = paddings[-text.length & 3] ?? "";
  // With blanks in it the length does not show how much it lacks. To take them out of a text of
  // megabytes would take longer than to try.
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

function refuseText(text: string, index: number, key: string, expected: string): never {
  const got = shortened(text);
  return refuse(`items[${index}].${key} is invalid; expected ${expected}, got '${got}'`);
}

function shortened(text: string): string {
  return text.length > quotedMax ? `${text.slice(0, quotedMax)}…` : text;
}
