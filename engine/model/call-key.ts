// What a caller's key makes of a call: a name under which its shard remembers it, so that the same
// call can come again and is answered as it was. The key holds within a queue and an operation.

import { isUtf8 } from "node:buffer";
import type { NewImport } from "../operations/import.ts";
import type { Payload, RetryRequest } from "./api.ts";
import { assert } from "./assert.ts";
import { failure, QueueError } from "./errors.ts";
import { limits } from "./limits.ts";
import type { NewItem } from "./messages.ts";

/** Operations that take a key; stored receipts name them by their place. Tasks are their own receipts. */
export const keyedOperations = [
  "produce",
  "lease",
  "complete",
  "retry",
  "extend",
  "release",
  "import",
  "transact",
  "redrive",
  "repair",
] as const;
export type KeyedOperation = (typeof keyedOperations)[number];

export interface CallKey {
  readonly operation: KeyedOperation;
  /** As the caller gave it, for texts. */
  readonly text: string;
  /** 32 hexadecimal digits, of queue, operation and key. */
  readonly digest: string;
  /** 16 hexadecimal digits, of what was asked, without for how long and by whom. */
  readonly fingerprint: string;
}

/** Queues that have the same number one after the other came about at different times. */
export interface QueueName {
  readonly queueId: number;
  readonly createdAt: number;
}

/** A number that no other queue has, also one of the same name, or of a catalog that went back. */
export function ownerOf({ queueId, createdAt }: QueueName): number {
  return Number(Bun.hash.xxHash3(`${queueId}/${createdAt}`) >> 11n);
}

interface KeyedCall {
  readonly queue: QueueName;
  readonly operation: KeyedOperation;
  /** What is asked for, in one text: the same for the same, and for nothing else. */
  readonly asked: string;
}

/** Throws `invalid` for a text that is no key. */
export function callKey(text: string, call: KeyedCall): CallKey {
  checkKey(text);
  const { queue, operation, asked } = call;
  const digest = digestOf(queue, `${operation}/${text}`);
  const fingerprint = Bun.hash.xxHash3(asked).toString(16).padStart(16, "0");
  return { operation, text, digest, fingerprint };
}

export function keyedOperationAt(place = -1): KeyedOperation {
  const operation = keyedOperations[place];
  assert(operation !== undefined, "a key is of an operation that has none");
  return operation;
}

/** The digest of an item's unique key: 32 hexadecimal digits, `""` where it has none. */
export function uniqueDigest(key: string | undefined, queue: QueueName): string {
  return key === undefined || key === "" ? "" : digestOf(queue, `unique/${key}`);
}

function digestOf({ queueId, createdAt }: QueueName, text: string): string {
  return Bun.SHA256.hash(`${queueId}/${createdAt}/${text}`, "hex").slice(0, 32);
}

function checkKey(text: string): void {
  const { length } = text;
  if (length >= 1 && length <= limits.requestKeyBytesMax && !/[^\x21-\x7e]/.test(text)) return;
  const got = length > limits.requestKeyBytesMax ? `${length} characters` : JSON.stringify(text);
  const expected = `expected 1 to ${limits.requestKeyBytesMax} visible ASCII characters`;
  throw QueueError.from(
    failure("malformed", `idempotency key is invalid; ${expected}, got ${got}`),
  );
}

export function producedText(items: readonly NewItem[], returnIds: boolean): string {
  let text = returnIds ? "ids/" : "";
  for (const item of items) {
    if (typeof item === "string") {
      text += framed(item);
      continue;
    }
    const { payload, kind, encoding, reference, headers, enqueueAt, unique } = item;
    text += framed(payload);
    const isPlain = kind === "" && encoding === "" && reference === "" && enqueueAt === null;
    if (isPlain && unique === "" && headers === "") continue;
    text += JSON.stringify([kind, encoding, reference, enqueueAt, unique, headers]);
  }
  return text;
}

export function retriedText({
  partition,
  items,
}: Pick<RetryRequest, "partition" | "items">): string {
  const texts = items.map(({ id, retryAt, retryAfterMs, dead, reason = "" }) => {
    const due = retryAfterMs == null ? (retryAt ?? "") : `+${retryAfterMs}`;
    return `${id}/${due}/${dead === true}${reason && `/${JSON.stringify(reason)}`}`;
  });
  return [partition, ...texts].join();
}

export function importedText(partition: number, items: readonly NewImport[]): string {
  const texts = items.map(({ payload, ...fields }) => framed(payload) + JSON.stringify(fields));
  return [partition, ...texts].join();
}

/** With its length, so that it ends where it ends. What a text and what bytes say is one thing. */
function framed(payload: Payload): string {
  if (typeof payload === "string") return `${payload.length}:${payload}`;
  const { buffer, byteOffset, byteLength } = payload;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  return isUtf8(bytes)
    ? framed(bytes.toString())
    : `${byteLength} bytes:${bytes.toString("latin1")}`;
}

/** The same key was used with something else. */
export function keyTaken({ text }: CallKey) {
  return failure("key_taken", `idempotency key is taken; '${text}' was used with another request`);
}
