// Formats values of any kind for messages.

import { bounds } from "../openapi/bounds.ts";

/** The kind of a value, with the value if it is short: `number 42`, `undefined`, `Date`. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "object") return classOf(value);
  const isShort = ["number", "bigint", "boolean"].includes(typeof value);
  return isShort ? `${typeof value} ${value}` : typeof value;
}

/** `Object`, `Date`, `Array` and so on, from any realm. */
export function classOf(value: object): string {
  return safely("Object", () => Object.prototype.toString.call(value).slice("[object ".length, -1));
}

/** UTF-16 units: a message is a line, not a dump. */
const charactersMax = 500;

/** A thrown value as text: an error's message, or the value itself. */
export function formatError(value: unknown): string {
  const text = textOf(value);
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text;
}

const encoder = new TextEncoder();
const ellipsis = "…";

/**
 * A thrown value as the reason of a retry: at most as many bytes as the server accepts. It is
 * well-formed even if the program or the cut has split a character.
 */
export function retryReason(error: unknown): string {
  const text = textOf(error).toWellFormed();
  const most = bounds.retryReasonBytesMax;
  if (charactersIn(text, most) === text.length) return text;
  return text.slice(0, charactersIn(text, most - encoder.encode(ellipsis).length)) + ellipsis;
}

/** How many UTF-16 units of a text fit. */
function charactersIn(text: string, bytesMax: number): number {
  return encoder.encodeInto(text, new Uint8Array(bytesMax)).read;
}

/** Deeper frames are omitted. */
const framesMax = 20;

/** The stack of an error, as lines; `""` = none. */
export function stackFrames(error: unknown): string {
  return safely("", () => {
    const { stack } = error as { readonly stack?: unknown };
    if (typeof stack !== "string") return "";
    const frames = stack.split("\n").filter((line) => /^\s+at |@.+:\d+/.test(line));
    return frames.slice(0, framesMax).join("\n");
  });
}

/** `instanceof` that never throws. */
export function isInstance<T>(value: unknown, of: new (...given: never[]) => T): value is T {
  return safely(false, () => value instanceof of);
}

/** A program may throw anything: throwing getters, messages that are not texts, revoked proxies. */
function textOf(value: unknown): string {
  return safely("a value that cannot be shown", () => plainTextOf(value));
}

/** Returns `otherwise` if `look` throws. */
export function safely<T>(otherwise: T, look: () => T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}

/** Ignores a promise given instead of a value: its unhandled rejection would end the process. */
export function forget(wrong: unknown): void {
  // `await` also catches a promise whose `then` throws.
  (async () => await wrong)().catch(() => undefined);
}

function plainTextOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return kindOf(value);
  if (value instanceof Error) {
    const { message, name }: { message: unknown; name: unknown } = value;
    if (typeof message !== "string") return plainTextOf(message);
    return message || (typeof name === "string" ? name : classOf(value));
  }
  const text = safely(null, () => `${JSON.stringify(value) ?? "{}"}`);
  if (text === null) return `${classOf(value)} with ${Object.keys(value).join(", ")}`;
  // No visible content, for example a `Map` or a `Response`.
  return text === "{}" ? classOf(value) : text;
}
