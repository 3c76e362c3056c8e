// What a shard asks of one that another node has, as a call: arguments and results are JSON, in which
// bytes are base64.

import type { OtherShard } from "../../engine/relay/other-shard.ts";
import type { Call, ShardOperation } from "../calls/call.ts";

const prefix = "shard.";
const bytesKey = "$bytes";

export function operationOf(method: keyof OtherShard): ShardOperation {
  return `${prefix}${method}`;
}

/** `null` = it is an operation of clients. */
export function methodOf(operation: Call["operation"]): keyof OtherShard | null {
  return operation.startsWith(prefix) ? (operation.slice(prefix.length) as keyof OtherShard) : null;
}

export function textOf(value: unknown): string {
  return JSON.stringify(value ?? null, function (this: unknown, key, one) {
    // A `Buffer` has become something else by then.
    const raw = (this as Record<string, unknown>)[key];
    return raw instanceof Uint8Array ? { [bytesKey]: raw.toBase64() } : one;
  });
}

export function parsedOf(text: string): unknown {
  return JSON.parse(text, (_, value) => {
    const bytes = value?.[bytesKey];
    return typeof bytes === "string" ? Uint8Array.fromBase64(bytes) : value;
  });
}

export function argumentsOf(text: string): readonly unknown[] {
  return parsedOf(text) as readonly unknown[];
}
