// Values of any kind in words, for messages.

import { bounds } from "../openapi/bounds.ts";

/** Of what kind it is, and what it is if that is short: `number 42`, `undefined`, `Date`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "object") return classOf(value);
  const isShort = ["number", "bigint", "boolean"].includes(typeof value);
  return isShort ? `${typeof value} ${value}` : typeof value;
}

/** `Object`, `Date`, `Array` and so on, from whatever realm it comes. */
export function classOf(value: object): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** A message is a line, not a dump. */
const shownMax = 500;

/** What a program threw: an error's message, else the value itself. */
export function shown(value: unknown): string {
  const text = wordsOf(value);
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}

const encoder = new TextEncoder();
const ellipsis = "…";

/** The same, as the reason of a retry: as many bytes as the server takes, and no half of a character. */
export function reasonOf(error: unknown): string {
  const text = wordsOf(error);
  const most = bounds.retryReasonBytesMax;
  if (charactersIn(text, most) === text.length) return text;
  return text.slice(0, charactersIn(text, most - encoder.encode(ellipsis).length)) + ellipsis;
}

/** How much of a text fits. */
function charactersIn(text: string, bytesMax: number): number {
  return encoder.encodeInto(text, new Uint8Array(bytesMax)).read;
}

function wordsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return kindOf(value);
  if (value instanceof Error) return value.message || value.name;
  try {
    const text: string = JSON.stringify(value) ?? "{}";
    // Nothing of it can be seen, as of a `Map` or a `Response`.
    return text === "{}" ? classOf(value) : text;
  } catch {
    return `${classOf(value)} with ${Object.keys(value).join(", ")}`;
  }
}
