import { expect, test } from "bun:test";
import type { StoredItem } from "../../engine/model/api.ts";
import { pieceLimits } from "../http/body/pieces.ts";
import { storageItem } from "../wire/storage.ts";
import { pageOf } from "./page.ts";

function items(count: number, payloadBytes: number): StoredItem[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `id-${index}`,
    sourceId: "",
    isLeased: false,
    leaseDeadline: null,
    expireDeadline: 1_700_000_000_000 + index,
    deadDeadline: null,
    createdAt: 1_700_000_000_000,
    updatedAt: 1_700_000_000_000,
    enqueueAt: null,
    priority: 0,
    attempts: index,
    maxAttempts: 0,
    reference: 'a "reference"',
    encoding: "",
    kind: "",
    payload: new Uint8Array(payloadBytes).fill(index),
  }));
}

const { itemBytes, bytesMax: pieceBytesMax } = pieceLimits;
const pieceItems = pieceBytesMax / itemBytes;

test.each([
  { count: 0, payloadBytes: 0 },
  { count: 1, payloadBytes: 3 * pieceBytesMax },
  { count: 3, payloadBytes: pieceBytesMax },
  { count: pieceItems, payloadBytes: 0 },
  { count: pieceItems + 1, payloadBytes: 0 },
  { count: 1_000, payloadBytes: 1_000 },
])("page: $count items of $payloadBytes bytes are written as in one go", async (page) => {
  const stored = items(page.count, page.payloadBytes);
  const { text } = await pageOf(stored, storageItem, { b: 1 });
  expect(text).toBe(JSON.stringify({ items: stored.map(storageItem), b: 1 }));
});

test("page: other requests are served between the pieces of a long one", async () => {
  const ended: string[] = [];
  const long = pageOf(items(8 * pieceItems, 0), storageItem).then(() => void ended.push("long"));
  const short = pageOf(items(2 * pieceItems, 0), storageItem).then(() => void ended.push("short"));
  await Promise.all([long, short]);
  expect(ended).toEqual(["short", "long"]);
});
