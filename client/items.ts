// Items as a program has them: texts, bytes, dates and JSON values, and what the contract
// makes of them.

import { base64OfBytes, bytesOfBase64 } from "./bytes.ts";
import type { LeaseItem, ProduceItem } from "./wire.ts";

/** The keys of the contract, with values as a program has them, and `json` besides. */
export interface ItemFields extends Omit<ProduceItem, "bytes" | "enqueue_at"> {
  /** The payload as bytes, or in base64. */
  readonly bytes?: Uint8Array | string;
  /** The payload as a value; `encoding` is then `application/json` unless it is given. */
  readonly json?: unknown;
  /** Not offered before this instant. */
  readonly enqueue_at?: Date | string | null;
}

/** A text, bytes, or the fields of an item. */
export type NewItem = string | Uint8Array | ItemFields;

/** Throws a `TypeError` where a value and another payload are given, of which one would be lost. */
export function produceItem(item: NewItem): ProduceItem {
  if (typeof item === "string") return { utf8: item };
  if (item instanceof Uint8Array) return { bytes: base64OfBytes(item) };
  const { json, bytes, enqueue_at, ...fields } = item;
  if (json !== undefined && (bytes !== undefined || fields.utf8 != null)) {
    throw new TypeError("payload is given twice; expected one of json, utf8 and bytes");
  }
  return {
    ...(json === undefined ? {} : { utf8: JSON.stringify(json), encoding: "application/json" }),
    ...fields,
    ...(bytes === undefined
      ? {}
      : { bytes: typeof bytes === "string" ? bytes : base64OfBytes(bytes) }),
    ...(enqueue_at === undefined
      ? {}
      : { enqueue_at: enqueue_at instanceof Date ? enqueue_at.toISOString() : enqueue_at }),
  };
}

/** An item of a lease: the contract's keys, and its payload in the forms it is wanted in. */
export interface LeasedItem extends LeaseItem {
  readonly payload: Uint8Array<ArrayBuffer>;
  /** The payload as UTF-8. */
  text(): string;
  /** The payload as JSON; throws a `SyntaxError` when it is none. */
  json(): unknown;
}

const decoder = new TextDecoder();

export function leasedItem(item: LeaseItem): LeasedItem {
  let decoded: Uint8Array<ArrayBuffer> | null = null;
  const payload = (): Uint8Array<ArrayBuffer> => {
    decoded ??= bytesOfBase64(item.bytes);
    return decoded;
  };
  const text = (): string => decoder.decode(payload());
  return {
    ...item,
    get payload() {
      return payload();
    },
    text,
    json: () => JSON.parse(text()),
  };
}
