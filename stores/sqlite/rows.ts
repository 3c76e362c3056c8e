// Converts between SQLite's rows and the store's types. Every row has a checksum over its content.
// An item that does not match is returned as damaged; any other row stops the store.

import { groupPlaces } from "../groups.ts";
import type { Item, Lease, OutboundItem, ScheduledItem, Tally } from "../item.ts";
import { packItemsMax } from "../packs.ts";
import { type CatalogEntry, isCatalogEntry } from "../queue.ts";
import {
  type GroupedItem,
  type Inbound,
  type Read,
  type ScheduledMark,
  type StoredReceipts,
  type StoredTask,
  StoreError,
  type TurnRecord,
  type UniqueKey,
} from "../store.ts";
import { type Contents, countOf, PackReader, packContents } from "./pack.ts";

/** Columns of an item, in the order of binding and reading. */
export const itemColumns =
  "created_at, queued_at, expire_deadline, early, attempts, kind, encoding, reference, source_id, headers, past, payload, check_sum";

type Text = string | null;

export type ItemValues = [
  slot: number,
  seq: number,
  createdAt: number,
  queuedAt: number | null,
  expireDeadline: number,
  early: number,
  attempts: number,
  kind: Text,
  encoding: Text,
  reference: Text,
  sourceId: Text,
  headers: Text,
  past: Text,
  payload: Uint8Array | string,
  checkSum: number,
];

/** A row as returned by `values()`: slot, seq, `itemColumns`, then the table's own columns. */
type Row = readonly unknown[];

/** Folds an integer of up to 53 bits into a checksum. */
function fold(sum: number, value: number): number {
  const high = Math.imul(Math.floor(value / 0x1_0000_0000), 0x85eb_ca6b);
  return Math.imul(sum ^ value ^ high, 0x9e37_79b1);
}

function sumOf(...values: readonly number[]): number {
  let sum = 1;
  for (const value of values) sum = fold(sum, value);
  return sum >>> 0;
}

/** `place` makes the checksum differ if a text moves to another column. */
function foldText(sum: number, text: string, place: number): number {
  return text === "" ? sum : Bun.hash.crc32(text, (sum + place) >>> 0);
}

/** `salt` covers the table's own columns. */
function itemSum(item: Item, salt: number): number {
  let sum = fold(fold(salt, item.slot), item.seq);
  sum = fold(fold(sum, item.createdAt), item.queuedAt);
  sum = fold(fold(sum, item.expireDeadline), item.attempts * 2 + (item.early ? 1 : 0));
  sum = foldText(sum, item.kind, 1);
  sum = foldText(sum, item.encoding, 2);
  sum = foldText(sum, item.reference, 3);
  sum = foldText(sum, item.sourceId, 4);
  sum = foldText(sum, item.headers, 5);
  sum = foldText(sum, item.past, 6);
  return Bun.hash.crc32(item.payload, sum >>> 0);
}

const itemSalt = 0;

function scheduledSalt(dueAt: number, retried: number): number {
  return fold(fold(11, dueAt), retried);
}

function outboundSalt({
  outboundSeq,
  targetShard,
  targetOwner,
}: Pick<OutboundItem, "outboundSeq" | "targetShard" | "targetOwner">): number {
  return fold(fold(fold(13, outboundSeq), targetShard), targetOwner);
}

function textOrNull(text: string): Text {
  return text === "" ? null : text;
}

function valuesOf(item: Item, salt: number): ItemValues {
  return [
    item.slot,
    item.seq,
    item.createdAt,
    item.queuedAt === item.createdAt ? null : item.queuedAt,
    item.expireDeadline,
    item.early ? 1 : 0,
    item.attempts,
    textOrNull(item.kind),
    textOrNull(item.encoding),
    textOrNull(item.reference),
    textOrNull(item.sourceId),
    textOrNull(item.headers),
    textOrNull(item.past),
    item.payload,
    itemSum(item, salt),
  ];
}

export function itemValues(item: Item): ItemValues {
  return valuesOf(item, itemSalt);
}

export function scheduledValues(item: ScheduledItem): ItemValues {
  return valuesOf(item, scheduledSalt(item.dueAt, item.retried ? 1 : 0));
}

export function outboundValues(item: OutboundItem): ItemValues {
  return valuesOf(item, outboundSalt(item));
}

/** Checksum of an item in a row of its own or in a pack. */
export function itemCheckSum(item: Item): number {
  return itemSum(item, itemSalt);
}

export type PackValues = [
  slot: number,
  first: number,
  count: number,
  createdAt: number,
  queuedAt: number | null,
  expireDeadline: number,
  attempts: number,
  past: Text,
  sizes: Uint8Array,
  texts: Text,
  payload: Uint8Array,
  checkSum: number,
];

/** The fields that the items of a pack have in common. */
type Shared = Pick<Item, "slot" | "seq" | "createdAt" | "queuedAt" | "expireDeadline" | "attempts">;

const packSalt = 17;

/** Covers the whole row; `seq` is that of the first item. */
function packSum(shared: Shared, count: number, contents: Contents): number {
  const { sizes, texts, pasts, payload } = contents;
  let sum = fold(fold(fold(packSalt, shared.slot), shared.seq), count);
  sum = fold(fold(sum, shared.createdAt), shared.queuedAt);
  sum = fold(fold(sum, shared.expireDeadline), shared.attempts);
  sum = foldText(foldText(sum, texts ?? "", 1), pasts ?? "", 2);
  return Bun.hash.crc32(payload, Bun.hash.crc32(sizes, sum >>> 0));
}

export function packValues(items: readonly [Item, ...Item[]]): PackValues {
  const [first] = items;
  const contents = packContents(items, itemCheckSum);
  return [
    first.slot,
    first.seq,
    items.length,
    first.createdAt,
    first.queuedAt === first.createdAt ? null : first.queuedAt,
    first.expireDeadline,
    first.attempts,
    contents.pasts,
    contents.sizes,
    contents.texts,
    contents.payload,
    packSum(first, items.length, contents),
  ];
}

/** Whether the columns of `insertPlain` are enough for the row. */
export function isPlain(values: ItemValues): boolean {
  for (let column = 7; column <= 12; column += 1) if (values[column] !== null) return false;
  return values[3] === null && values[5] === 0 && values[6] === 0;
}

export function textIn(row: Row, column: number): string {
  return (row[column] as Text) ?? "";
}

function readItem(row: Row): Item {
  const createdAt = row[2] as number;
  return {
    slot: row[0] as number,
    seq: row[1] as number,
    createdAt,
    queuedAt: (row[3] as number | null) ?? createdAt,
    expireDeadline: row[4] as number,
    early: row[5] === 1,
    attempts: row[6] as number,
    kind: textIn(row, 7),
    encoding: textIn(row, 8),
    reference: textIn(row, 9),
    sourceId: textIn(row, 10),
    headers: textIn(row, 11),
    past: textIn(row, 12),
    payload: row[13] as Uint8Array,
  };
}

/** Columns of table `item` after `itemColumns`, for `itemsOf`. */
export const packColumns = "count, sizes, texts";

/** The wanted items of a row of table `item`, including those that have left their pack. */
export function itemsOf(row: Row, wanted?: ReadonlyMap<number, unknown>): Read<Item>[] {
  const sizes = row[16] as Uint8Array | null;
  const count = row[15] as number;
  const shared = readItem(row);
  if (sizes === null) {
    const damaged = itemSum(shared, itemSalt) !== row[14] || count !== 1 || row[17] !== null;
    return [Object.assign(shared, { damaged })];
  }
  const [pasts, payload, texts] = [row[12] as Text, row[13] as Uint8Array, row[17] as Text];
  const contents = { sizes, texts, pasts, payload };
  const isSound = packSum(shared, count, contents) === row[14] && countOf(sizes) === count;
  const reader = new PackReader(contents);
  const pieces = isSound ? count : likelyCount(count, contents, reader.bytes);
  const items: Read<Item>[] = [];
  for (let index = 0; index < pieces; index += 1) {
    if (wanted !== undefined && !wanted.has(shared.seq + index)) continue;
    const piece = reader.piece(index);
    const item = {
      slot: shared.slot,
      seq: shared.seq + index,
      createdAt: shared.createdAt,
      queuedAt: shared.queuedAt,
      expireDeadline: shared.expireDeadline,
      early: false,
      attempts: shared.attempts,
      kind: piece.kind,
      encoding: piece.encoding,
      reference: piece.reference,
      sourceId: "",
      headers: piece.headers,
      past: piece.past,
      payload: piece.payload,
      damaged: false,
    };
    // A flipped bit damages one item, not the whole pack.
    if (!isSound) item.damaged = itemSum(item, itemSalt) !== piece.checkSum;
    items.push(item);
  }
  return items;
}

/** The item count of a damaged pack. It is stored twice, and a single fault affects only one. */
function likelyCount(count: number, { sizes, payload }: Contents, bytes: number): number {
  const other = countOf(sizes);
  if (other === count || (bytes === payload.length && Number.isInteger(other))) return other;
  check(count >= 1 && count <= packItemsMax, "item");
  return count;
}

export function scheduledOf(row: Row): Read<ScheduledItem> {
  const item = readItem(row);
  const dueAt = row[15] as number;
  const retried = row[16] as number;
  const damaged = itemSum(item, scheduledSalt(dueAt, retried)) !== row[14];
  return { ...item, dueAt, retried: retried === 1, damaged };
}

export function outboundOf(row: Row): Read<OutboundItem> {
  const item = readItem(row);
  const [outboundSeq = 0, targetShard = 0, targetOwner = 0] = row.slice(15) as number[];
  const route = { outboundSeq, targetShard, targetOwner };
  const damaged = itemSum(item, outboundSalt(route)) !== row[14];
  return { ...item, ...route, damaged };
}

/** Columns of table `scheduled` after the place, for `scheduledMarkOf`. */
export const scheduledMarkColumns =
  "created_at, expire_deadline, attempts, length(payload), due_at, retried, past";

export function scheduledMarkOf(row: Row): ScheduledMark {
  const [slot = 0, seq = 0, createdAt = 0, expireDeadline = 0, attempts = 0, payloadBytes = 0] =
    row as number[];
  const [dueAt = 0, retried] = row.slice(6) as number[];
  const mark = { slot, seq, createdAt, expireDeadline, attempts, payloadBytes };
  return { ...mark, dueAt, retried: retried === 1, past: textIn(row, 8) };
}

export type LeaseValues = [number, number, number, number, number, number];

export function leaseValues(lease: Lease): LeaseValues {
  const { slot, first, last, leaseDeadline, leasedAt } = lease;
  const sum = sumOf(slot, first, last, leaseDeadline, leasedAt);
  return [slot, first, last, leaseDeadline, leasedAt, sum];
}

export function leaseOf(row: Row): Lease {
  const [slot, first, last, leaseDeadline, leasedAt, checkSum] = row as LeaseValues;
  check(sumOf(slot, first, last, leaseDeadline, leasedAt) === checkSum, "lease");
  return { slot, first, last, leaseDeadline, leasedAt };
}

/** `row` is without its checksum. The sum of instants is text, because it exceeds a number. */
function tallySum([slot, nextSeq, itemCount, createdAtSum, ...numbers]: Row): number {
  const before = [slot, nextSeq, itemCount] as number[];
  return Bun.hash.crc32(String(createdAtSum), sumOf(...before, ...(numbers as number[])));
}

export function tallyValues(tally: Tally): (number | string)[] {
  const values = [
    tally.slot,
    tally.nextSeq,
    tally.itemCount,
    String(tally.createdAtSum),
    tally.scheduledCount,
    tally.retriedCount,
    tally.expireDeadlineMax,
    tally.doomedCount,
    tally.clearReadyBelow,
    tally.clearScheduledBelow,
    tally.clearRetriedBelow,
  ];
  return [...values, tallySum(values)];
}

export function tallyOf(row: Row): Tally {
  check(tallySum(row.slice(0, -1)) === row.at(-1), "tally");
  const at = (index: number) => row[index] as number;
  return {
    slot: at(0),
    nextSeq: at(1),
    itemCount: at(2),
    createdAtSum: BigInt(row[3] as string),
    scheduledCount: at(4),
    retriedCount: at(5),
    expireDeadlineMax: at(6),
    doomedCount: at(7),
    clearReadyBelow: at(8),
    clearScheduledBelow: at(9),
    clearRetriedBelow: at(10),
  };
}

export type TurnValues = [number, number, string, number];

export function turnValues({ turn, at, tag }: TurnRecord): TurnValues {
  return [turn, at, tag, turnSum({ turn, at, tag })];
}

function turnSum({ turn, at, tag }: TurnRecord): number {
  return Bun.hash.crc32(tag, sumOf(turn, at));
}

export function turnOf(row: Row): TurnRecord {
  const [turn, at, tag, checkSum] = row as TurnValues;
  check(turnSum({ turn, at, tag }) === checkSum, "turn");
  return { turn, at, tag };
}

export type ReceiptValues = [number, number, Uint8Array, number];

function receiptsSum({ turn, at, entries }: StoredReceipts): number {
  return Bun.hash.crc32(entries, sumOf(turn, at));
}

export function keyedTurnValues(
  turn: TurnRecord,
  entries: Uint8Array,
): [...TurnValues, Uint8Array, number] {
  return [...turnValues(turn), entries, receiptsSum({ ...turn, entries })];
}

export function receiptsOf(row: Row): StoredReceipts {
  const [turn, at, entries, checkSum] = row as ReceiptValues;
  check(receiptsSum({ turn, at, entries }) === checkSum, "receipt");
  return { turn, at, entries };
}

export type TaskValues = [string, string, number];

export function taskValues({ taskId, text }: StoredTask): TaskValues {
  return [taskId, text, foldText(foldText(1, taskId, 0), text, 1)];
}

export function taskOf(row: Row): StoredTask {
  const [taskId, text, checkSum] = row as TaskValues;
  check(foldText(foldText(1, taskId, 0), text, 1) === checkSum, "task");
  return { taskId, text };
}

export type UniqueValues = [number, number, Uint8Array, number, number];

export function uniqueValues({ slot, seq, digest, until }: UniqueKey): UniqueValues {
  const bytes = Uint8Array.fromHex(digest);
  return [slot, seq, bytes, until, Bun.hash.crc32(bytes, sumOf(slot, seq, until))];
}

/** `null`: the row is damaged. */
export function uniqueOf(row: Row): UniqueKey | null {
  const [slot, seq, digest, until, checkSum] = row as UniqueValues;
  const isWhole = Bun.hash.crc32(digest, sumOf(slot, seq, until)) === checkSum;
  return isWhole ? { slot, seq, digest: digest.toHex(), until } : null;
}

export type GroupedValues = [number, string, number, number, number, number, number];

function groupedSum([partition, group, place, rank, slot, seq]: GroupedValues): number {
  return Bun.hash.crc32(group, sumOf(partition, place, rank, slot, seq));
}

export function groupedValues(grouped: GroupedItem): GroupedValues {
  const { partition, group, place, rank, slot, seq } = grouped;
  const values: GroupedValues = [partition, group, groupPlaces.indexOf(place), rank, slot, seq, 0];
  values[6] = groupedSum(values);
  return values;
}

export function groupedOf(row: Row): GroupedItem {
  const values = row as GroupedValues;
  const [partition, group, number, rank, slot, seq, checkSum] = values;
  const place = groupPlaces[number];
  if (place === undefined || groupedSum(values) !== checkSum) {
    throw new StoreError("damaged", "a stored row is damaged; table 'grouped'");
  }
  return { partition, group, place, rank, slot, seq };
}

export type InboundValues = [number, number, number];

export function inboundValues({ sourceShard, outboundSeq }: Inbound): InboundValues {
  return [sourceShard, outboundSeq, sumOf(sourceShard, outboundSeq)];
}

export function inboundOf(row: Row): Inbound {
  const [sourceShard, outboundSeq, checkSum] = row as InboundValues;
  check(checkSum === sumOf(sourceShard, outboundSeq), "inbound");
  return { sourceShard, outboundSeq };
}

/** Columns after the row's number, which is always 1. */
export function identityValues(tags: string): [string, number] {
  return [tags, Bun.hash.crc32(tags)];
}

export function identityOf(row: Row | undefined): string {
  const [tags, checkSum] = (row ?? []) as [string?, number?];
  if (tags === undefined) throw new StoreError("damaged", "the store has lost its identity");
  check(checkSum === Bun.hash.crc32(tags), "identity");
  return tags;
}

export type QueueValues = [number, string, number];

export function queueValues(entry: CatalogEntry): QueueValues {
  const text = JSON.stringify(entry);
  return [entry.queueId, text, Bun.hash.crc32(text)];
}

export function queueOf(row: Row): CatalogEntry {
  const [queueId, text, checkSum] = row as QueueValues;
  check(Bun.hash.crc32(text) === checkSum, "queue");
  const entry: unknown = JSON.parse(text);
  if (!isCatalogEntry(entry)) {
    throw new StoreError("damaged", "a stored queue does not have the format of this version");
  }
  // The checksum does not cover the row's key.
  check(entry.queueId === queueId, "queue");
  return entry;
}

function check(holds: boolean, table: string): void {
  if (!holds) throw new StoreError("damaged", `a stored row is damaged; table '${table}'`);
}
