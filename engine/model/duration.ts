// Durations as text: Go's syntax ("300ms", "1.5s", "1h30m"), as in the reference implementation,
// plus days ("7d", "1d12h"). Internally milliseconds.

import { limits } from "./limits.ts";

/** The `expireTimeoutMs` of a queue whose items do not expire: it reaches past the last instant. */
export const never = limits.instantMax;

export const neverText = "never";

/** The `uniqueForMs` of a queue whose unique keys are taken until their items are finished. */
export const pending = limits.instantMax;

export const pendingText = "pending";

const nanosecondsPer = new Map([
  ["ns", 1],
  ["us", 1e3],
  ["\u00b5s", 1e3], // micro sign
  ["\u03bcs", 1e3], // Greek mu
  ["ms", 1e6],
  ["s", 1e9],
  ["m", 60e9],
  ["h", 3600e9],
  ["d", 86_400e9],
]);

/** Go's own duration overflows here. */
const nanosecondsMax = 2 ** 63;

/** Further digits of a fraction are ignored: 14 of a day already express a nanosecond. */
const fractionDigitsMax = 15;

/** Characters quoted from a refused text. */
const quotedMax = 40;

export type ParsedDuration =
  | { readonly ok: true; readonly ms: number }
  | { readonly ok: false; readonly message: string };

/** The next number and its unit, valid or not. */
const partForm = /(\d*)(?:\.(\d*))?([^\d.]*)/y;

/**
 * Parses the text in one pass. Rounds up to a whole millisecond, so that no positive duration
 * becomes 0, which means "not set".
 */
export function parseDuration(text: string): ParsedDuration {
  const negative = text.startsWith("-");
  let at = negative || text.startsWith("+") ? 1 : 0;
  if (at === text.length) return invalid(text);
  if (text.length === at + 1 && text[at] === "0") return { ok: true, ms: 0 };
  let total = 0;
  while (at < text.length) {
    partForm.lastIndex = at;
    const [part = "", whole = "", fraction = "", unit = ""] = partForm.exec(text) ?? [];
    if (whole + fraction === "") return invalid(text);
    if (unit === "") return refuse(`time: missing unit in duration ${quote(text)}`);
    const scale = nanosecondsPer.get(unit);
    if (scale === undefined) {
      return refuse(`time: unknown unit ${quote(unit)} in duration ${quote(text)}`);
    }
    total += Number(whole) * scale + fractionOf(fraction, scale);
    if (!(total < nanosecondsMax)) return invalid(text);
    at += part.length;
  }
  if (negative && total > 0) return refuse(`time: negative duration ${quote(text)}`);
  return { ok: true, ms: Math.ceil(total / 1e6) };
}

/** Go's canonical form, which has no days: `0s`, `300ms`, `1.5s`, `1h0m0s`. For whole ms ≥ 0. */
export function formatDuration(ms: number): string {
  if (ms === never) return neverText;
  if (ms === 0) return "0s";
  if (ms < 1000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const seconds = (ms % 60_000) / 1000;
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

/** Whole nanoseconds of `0.<digits>` units of `scale` nanoseconds, truncated as in Go. */
function fractionOf(digits: string, scale: number): number {
  const kept = digits.slice(0, fractionDigitsMax);
  return Math.floor(Number(kept) * (scale / 10 ** kept.length));
}

function quote(text: string): string {
  return `"${text.length > quotedMax ? `${text.slice(0, quotedMax)}…` : text}"`;
}

function invalid(text: string): ParsedDuration {
  return refuse(`time: invalid duration ${quote(text)}`);
}

function refuse(message: string): ParsedDuration {
  return { ok: false, message };
}
