// Payloads as bytes, and how bytes look inside JSON; no other value of a message has this key.

import type { Payload } from "../../stores/item.ts";

interface Bytes {
  readonly base64: string;
}

const utf8 = new TextEncoder();

export function payloadBytes({ payload }: { readonly payload: Payload }): Uint8Array {
  return typeof payload === "string" ? utf8.encode(payload) : payload;
}

/** The item as JSON can say it. */
export function encodePayload<T extends { readonly payload: Payload }>(item: T): unknown {
  const { payload } = item;
  if (typeof payload === "string") return item;
  return { ...item, payload: { base64: payload.toBase64() } satisfies Bytes };
}

/** Puts the bytes back into an item that was read from JSON, and returns it. */
export function decodePayload<T extends { readonly payload: Payload }>(item: T): T {
  const payload: unknown = item.payload;
  if (typeof payload !== "object" || payload === null || !("base64" in payload)) return item;
  const bytes = Uint8Array.fromBase64((payload as Bytes).base64);
  return Object.assign(item, { payload: bytes });
}
