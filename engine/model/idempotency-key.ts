// The identity of a call with an idempotency key. Its shard remembers the call under it and answers
// a repetition as it answered the first call. A key is scoped to a queue and an operation.

import { isUtf8 } from "node:buffer";
import type { Payload } from "../../stores/item.ts";
import type { RetryRequest } from "./api.ts";
import { assert } from "./assert.ts";
import { failure, QueueError } from "./errors.ts";
import { limits } from "./limits.ts";
import type { NewImport, NewItem } from "./messages.ts";

/** Stored receipts name an operation by its index here. A task is its own receipt. */
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
  "cancel",
] as const;
export type KeyedOperation = (typeof keyedOperations)[number];

export interface IdempotencyKey {
  readonly operation: KeyedOperation;
  /** The key as given, for messages. */
  readonly text: string;
  /** Identifies queue, operation and key: 32 hexadecimal digits. */
  readonly digest: string;
  /** Identifies the arguments, without the timeout and the caller: 16 hexadecimal digits. */
  readonly fingerprint: string;
}

/** `createdAt` distinguishes queues that used the same number at different times. */
export interface QueueName {
  readonly queueId: number;
  readonly createdAt: number;
}

/** A permanent queue number: no later queue of its name has it, even if the catalog went back. */
export function ownerOf({ queueId, createdAt }: QueueName): number {
  return Number(Bun.hash.xxHash3(`${queueId}/${createdAt}`) >> 11n);
}

interface KeyedCall {
  readonly queue: QueueName;
  readonly operation: KeyedOperation;
  /** The arguments as one text: equal texts for equal arguments only. */
  readonly argumentsText: string;
}

/** Throws `invalid` if the key is malformed. */
export function idempotencyKey(text: string, call: KeyedCall): IdempotencyKey {
  checkKey(text);
  const { queue, operation, argumentsText } = call;
  const digest = digestOf(queue, `${operation}/${text}`);
  const fingerprint = Bun.hash.xxHash3(argumentsText).toString(16).padStart(16, "0");
  return { operation, text, digest, fingerprint };
}

export function keyedOperationAt(place = -1): KeyedOperation {
  const operation = keyedOperations[place];
  assert(operation !== undefined, "a key is of an operation that has none");
  return operation;
}

/** 32 hexadecimal digits; `""` if the item has no unique key. */
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
    const { payload, kind, encoding, reference, headers, priority, enqueueAt, unique } = item;
    const { past } = item;
    text += framed(payload);
    const isPlain = kind === "" && encoding === "" && reference === "" && enqueueAt === null;
    if (isPlain && unique === "" && headers === "" && priority === 0 && past === "") continue;
    text += JSON.stringify([kind, encoding, reference, enqueueAt, unique, headers, priority, past]);
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

/** Prefixed by its length, so that its end is unambiguous. A text and its UTF-8 bytes are equal. */
function framed(payload: Payload): string {
  if (typeof payload === "string") return `${payload.length}:${payload}`;
  const { buffer, byteOffset, byteLength } = payload;
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  return isUtf8(bytes)
    ? framed(bytes.toString())
    : `${byteLength} bytes:${bytes.toString("latin1")}`;
}

/** The key was used with other arguments. */
export function keyTaken({ text }: IdempotencyKey) {
  return failure("key_taken", `idempotency key is taken; '${text}' was used with another request`);
}
