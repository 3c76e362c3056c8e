// Encodes the calls from a shard to a shard of another node: arguments and results are JSON, with
// bytes in base64.

import type { OtherShard } from "../../engine/relay/other-shard.ts";
import type { Call, ShardOperation } from "../calls/call.ts";

const prefix = "shard.";
const bytesKey = "$bytes";

export function operationOf(method: keyof OtherShard): ShardOperation {
  return `${prefix}${method}`;
}

/** `null`: the operation is one of clients. */
export function methodOf(operation: Call["operation"]): keyof OtherShard | null {
  return operation.startsWith(prefix) ? (operation.slice(prefix.length) as keyof OtherShard) : null;
}

export function textOf(value: unknown): string {
  return JSON.stringify(value ?? null, function (this: unknown, key, one) {
    // `one` is already the result of `toJSON`, which a `Buffer` has.
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
