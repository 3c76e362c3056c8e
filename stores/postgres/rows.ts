// Converts rows of the database to items, marks and turns.

import type { Item, OutboundItem, ScheduledItem, Tally } from "../item.ts";
import { type CatalogEntry, isCatalogEntry } from "../queue.ts";
import {
  type Inbound,
  type Mark,
  type Read,
  type ScheduledMark,
  StoreError,
  type TurnRecord,
} from "../store.ts";
import type { SqlRow } from "./connection.ts";

/** The producer's fields except the payload, for column `texts`; `null` = all empty. */
export function textsOf({ kind, encoding, reference, headers }: Item): string | null {
  const isPlain = kind === "" && encoding === "" && reference === "" && headers === "";
  return isPlain ? null : JSON.stringify([kind, encoding, reference, headers]);
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

type Texts = Pick<Item, "kind" | "encoding" | "reference" | "headers">;

function readTexts(bytes: Uint8Array | null): Texts {
  if (bytes === null) return { kind: "", encoding: "", reference: "", headers: "" };
  const texts = JSON.parse(utf8.decode(bytes)) as string[];
  const [kind = "", encoding = "", reference = "", headers = ""] = texts;
  return { kind, encoding, reference, headers };
}

export function textOf(bytes: unknown): string {
  return bytes === null ? "" : utf8.decode(bytes as Uint8Array);
}

/** The place of a row of `item`, and which of its items have left. */
export interface Pack {
  readonly slot: number;
  readonly first: number;
  readonly count: number;
  readonly gone: ReadonlySet<number> | null;
}

export const packColumns = "i.slot, i.seq, i.count, gone.seqs";
export const itemColumns =
  "i.created_at, i.queued_at, i.expire_deadline, i.early, i.attempts, i.source_id, i.past, i.texts, i.payloads";
export const markColumns = "i.created_at, i.expire_deadline, i.attempts, i.bytes, i.past";

export function packOf(row: SqlRow): Pack {
  const [slot, first, count, gone] = row as [number, number, number, number[] | null];
  return { slot, first, count, gone: gone === null ? null : new Set(gone) };
}

/** The remaining items of a row, which begins with `packColumns`. */
export function itemsOf(row: SqlRow): Read<Item>[] {
  const { slot, first, count, gone } = packOf(row);
  const [createdAt, queuedAt, expireDeadline, early, attempts, sourceId, pasts, texts, payloads] =
    row.slice(4) as [
      number,
      number,
      number,
      boolean,
      number,
      unknown,
      Uint8Array[] | null,
      Uint8Array[] | null,
      Uint8Array[],
    ];
  const instants = { createdAt, queuedAt, expireDeadline };
  const shared = { slot, ...instants, early, attempts, sourceId: textOf(sourceId) };
  const items: Read<Item>[] = [];
  for (let index = 0; index < count; index += 1) {
    const seq = first + index;
    if (gone?.has(seq) === true) continue;
    const given = readTexts(texts?.[index] ?? null);
    const past = textOf(pasts?.[index] ?? null);
    const payload = payloads[index] ?? new Uint8Array();
    items.push({ ...shared, seq, ...given, past, payload, damaged: false });
  }
  return items;
}

export function marksOf(row: SqlRow): Mark[] {
  const { slot, first, count, gone } = packOf(row);
  const [createdAt = 0, expireDeadline = 0, attempts = 0, bytes = 0] = row.slice(4) as number[];
  const pasts = row[8] as Uint8Array[] | null;
  const marks: Mark[] = [];
  for (let seq = first; seq < first + count; seq += 1) {
    if (gone?.has(seq) === true) continue;
    marks.push({
      slot,
      seq,
      createdAt,
      expireDeadline,
      attempts,
      past: textOf(pasts?.[seq - first] ?? null),
      payloadBytes: bytes / count,
    });
  }
  return marks;
}

export const scheduledColumns =
  "i.slot, i.seq, i.created_at, i.queued_at, i.expire_deadline, i.attempts, i.source_id, i.texts, i.payload, i.due_at, i.retried, i.past";
export const scheduledMarkColumns =
  "i.slot, i.seq, i.created_at, i.expire_deadline, i.attempts, length(i.payload)::bigint, i.due_at, i.retried, i.past";

export function scheduledOf(row: SqlRow): Read<ScheduledItem> {
  const [
    slot,
    seq,
    createdAt,
    queuedAt,
    expireDeadline,
    attempts,
    sourceId,
    texts,
    payload,
    dueAt,
  ] = row as [
    number,
    number,
    number,
    number,
    number,
    number,
    unknown,
    Uint8Array | null,
    Uint8Array,
    number,
  ];
  return {
    ...{ slot, seq, createdAt, queuedAt, expireDeadline, early: false, attempts },
    ...{ ...readTexts(texts), sourceId: textOf(sourceId), payload },
    ...{ dueAt, retried: row[10] === true, past: textOf(row[11]), damaged: false },
  };
}

export function scheduledMarkOf(row: SqlRow): ScheduledMark {
  const [slot = 0, seq = 0, createdAt = 0, expireDeadline = 0, attempts = 0, payloadBytes = 0] =
    row as number[];
  const mark = { slot, seq, createdAt, expireDeadline, attempts, payloadBytes };
  return { ...mark, dueAt: Number(row[6]), retried: row[7] === true, past: textOf(row[8]) };
}

export const outboundColumns =
  "i.outbound_seq, i.target_shard, i.slot, i.seq, i.created_at, i.queued_at, i.expire_deadline, i.early, i.attempts, i.source_id, i.texts, i.payload, i.past, i.target_owner";

export function outboundOf(row: SqlRow): Read<OutboundItem> {
  const [outboundSeq = 0, targetShard = 0, slot = 0, seq = 0] = row as number[];
  const [createdAt = 0, queuedAt = 0, expireDeadline = 0] = row.slice(4) as number[];
  const [early, attempts, sourceId, texts, payload] = row.slice(7) as [
    boolean,
    number,
    unknown,
    Uint8Array | null,
    Uint8Array,
  ];
  return {
    ...{ outboundSeq, targetShard, slot, seq, createdAt, queuedAt, expireDeadline },
    ...{ early, attempts, ...readTexts(texts), sourceId: textOf(sourceId) },
    ...{ payload, past: textOf(row[12]), targetOwner: Number(row[13]), damaged: false },
  };
}

/** The record in a turn's row. */
export interface StoredTurn extends TurnRecord {
  readonly tallies: readonly StoredTally[];
  readonly inbound: readonly Inbound[];
}

/** The sum of instants is text, because it exceeds a number. */
export type StoredTally = Omit<Tally, "createdAtSum"> & { readonly createdAtSum: string };

export function storedTally(tally: Tally): StoredTally {
  return { ...tally, createdAtSum: String(tally.createdAtSum) };
}

export function tallyOf(stored: StoredTally): Tally {
  return { ...stored, createdAtSum: BigInt(stored.createdAtSum) };
}

export function queueOf([text]: SqlRow): CatalogEntry {
  const entry = parsed<unknown>(text);
  if (isCatalogEntry(entry)) return entry;
  throw new StoreError("damaged", "a stored queue does not have the format of this version");
}

/** Parses stored JSON; throws `damaged`. */
export function parsed<T>(text: unknown): T {
  try {
    return JSON.parse(text as string) as T;
  } catch (cause) {
    throw new StoreError("damaged", "a stored row does not have the format of this version", cause);
  }
}
