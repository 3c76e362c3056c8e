// Converts a program's texts, bytes, dates and JSON values to items of the contract, and leased
// items back.

import { base64OfBytes, bytesOfBase64 } from "./bytes.ts";
import { InvalidRequest } from "./errors.ts";
import { classOf, kindOf } from "./format-error.ts";
import type { LeaseItem, Operation, ProduceItem } from "./wire.ts";

/** Fields of the contract's item, with `json`, and JavaScript values for bytes and instants. */
export interface ItemFields<Json = unknown> extends Omit<ProduceItem, "bytes" | "enqueue_at"> {
  /** The payload as bytes or base64. */
  readonly bytes?: Uint8Array | string;
  /** The payload as a JSON value; `encoding` then defaults to `application/json`. */
  readonly json?: Json;
  /** The item is not offered before this instant. */
  readonly enqueue_at?: Date | string | null;
}

/** A text or bytes as the payload, or the fields of an item. */
export type NewItem<Json = unknown> = string | Uint8Array | ItemFields<Json>;

/** Throws a `TypeError` if it is not an item, or if its payload would be lost. */
export function produceItem(item: NewItem): ProduceItem {
  if (typeof item === "string") return { utf8: item };
  if (isBytes(item)) return { bytes: base64OfBytes(item) };
  if (kindOf(item) !== "Object") {
    throw new TypeError(`expected a text, bytes or the fields of an item, got ${kindOf(item)}`);
  }
  const { json, bytes, enqueue_at, ...fields } = item;
  const { utf8 } = fields;
  if (json !== undefined && (bytes !== undefined || utf8 != null)) {
    throw new TypeError("payload is given twice; expected one of json, utf8 and bytes");
  }
  const named = payloads.filter((name) => name in item);
  if (named.length > 0 && json === undefined && bytes === undefined && utf8 === undefined) {
    throw new TypeError(`payload is missing; expected a value of ${named[0]}, got undefined`);
  }
  return {
    ...(json === undefined ? {} : { utf8: jsonOf(json), encoding: "application/json" }),
    ...fields,
    ...(bytes === undefined ? {} : { bytes: base64Of(bytes) }),
    ...(enqueue_at === undefined ? {} : { enqueue_at: instantOf(enqueue_at) }),
  };
}

/** Accepts one item or several. Throws `InvalidRequest` before anything is sent. */
export function checkedItems(
  operation: Operation,
  items: NewItem | readonly NewItem[],
): ProduceItem[] {
  // A text and bytes have a length too, but are one item.
  const all: readonly NewItem[] = Array.isArray(items) ? items : [items as NewItem];
  return all.map((item, index) => {
    try {
      return produceItem(item);
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      const message = `items[${index}] is invalid; ${cause.message}`;
      throw new InvalidRequest({ operation, status: null, message, cause });
    }
  });
}

const payloads = ["json", "utf8", "bytes"];

/** Also detects bytes of another realm, such as a test runner's. */
function isBytes(value: unknown): value is Uint8Array {
  return ArrayBuffer.isView(value) && classOf(value) === "Uint8Array";
}

function jsonOf(value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new TypeError(`json is invalid; expected a JSON value, got ${kindOf(value)}`, { cause });
  }
  if (text !== undefined) return text;
  throw new TypeError(`json is invalid; expected a JSON value, got ${kindOf(value)}`);
}

function base64Of(bytes: unknown): string {
  if (typeof bytes === "string") return bytes;
  if (isBytes(bytes)) return base64OfBytes(bytes);
  throw new TypeError(`bytes is invalid; expected a Uint8Array or base64, got ${kindOf(bytes)}`);
}

function instantOf(at: Date | string | null): string | null {
  if (!(at instanceof Date)) return at;
  if (!Number.isNaN(at.getTime())) return at.toISOString();
  throw new TypeError("enqueue_at is invalid; expected an instant, got Invalid Date");
}

/** An item of a lease: the contract's fields, and its payload as bytes, text or JSON. */
export interface LeasedItem<Json = unknown> extends LeaseItem {
  readonly payload: Uint8Array<ArrayBuffer>;
  /** The payload as UTF-8. */
  text(): string;
  /** The payload as JSON; throws a `SyntaxError` if it is not JSON. */
  json(): Json;
}

const asItIs = new TextDecoder("utf-8", { ignoreBOM: true });
const withoutMark = new TextDecoder();

/** The lease that an item belongs to. */
export interface Origin {
  readonly queue_name: string;
  readonly partition: number;
  /** Items that are not finished yet. */
  readonly left: Set<LeasedItem>;
}

export function leasedItem(item: LeaseItem, origin: Origin | null = null): LeasedItem {
  return Object.assign(new PayloadForms(item.bytes, origin), item);
}

/** The item's own limit, except in a dead queue, or else the queue's; 0 = no limit. */
export function maxAttemptsOf(
  { death, own_max_attempts = 0 }: LeaseItem,
  { max_attempts }: { readonly max_attempts: number },
): number {
  return (death === undefined && own_max_attempts) || max_attempts;
}

/** `null`: the item is not from a lease of this client. */
export function originOf(item: LeasedItem): Origin | null {
  return PayloadForms.originOf(item);
}

/** A class, because a getter in an object literal costs more than the rest of an item. */
class PayloadForms {
  readonly #bytes: string;
  readonly #origin: Origin | null;
  #payload: Uint8Array<ArrayBuffer> | null = null;

  constructor(bytes: string, origin: Origin | null) {
    this.#bytes = bytes;
    this.#origin = origin;
  }

  static originOf(item: object): Origin | null {
    return #origin in item ? item.#origin : null;
  }

  get payload(): Uint8Array<ArrayBuffer> {
    this.#payload ??= bytesOfBase64(this.#bytes);
    return this.#payload;
  }

  readonly text = (): string => asItIs.decode(this.payload);
  // `JSON.parse` rejects a byte order mark, so it is removed.
  readonly json = (): unknown => JSON.parse(withoutMark.decode(this.payload));
}
