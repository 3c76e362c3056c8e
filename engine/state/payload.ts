import type { Payload } from "../../stores/item.ts";

const utf8 = new TextEncoder();

export function payloadBytes({ payload }: { readonly payload: Payload }): Uint8Array {
  return typeof payload === "string" ? utf8.encode(payload) : payload;
}
