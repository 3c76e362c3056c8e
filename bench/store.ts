// `bun bench/store.ts [items a commit ...]`: the store alone, one commit after the
// other, with what a busy turn would write. Beside `bench/engine.ts` and
// `bun run bench` it tells what the layers above it cost.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newTag } from "../engine/model/ids.ts";
import { systemRandom } from "../engine/model/random.ts";
import { nothing } from "../stores/conformance/values.ts";
import type { Item, Tally } from "../stores/item.ts";
import { openStore } from "../stores/open.ts";
import { readItems } from "../stores/single-reads.ts";
import type { Changes, Store } from "../stores/store.ts";
import { numberDigits } from "./delivery.ts";
import { Samples } from "./statistics.ts";
import { markdownTable, rate } from "./table.ts";

const sizesDefault = [1, 10, 100, 1_000];
const payload = "0".repeat(numberDigits).padEnd(100, "x");
const now = 1_800_000_000_000;
const hour = 3_600_000;
const slot = 0;
const everything = { items: 1_000_000, payloadBytes: Number.MAX_SAFE_INTEGER };

function itemsOf(size: number): number {
  return Math.min(300_000, size * 3_000);
}

function itemAt(seq: number): Item {
  return {
    slot,
    seq,
    createdAt: now,
    queuedAt: now,
    expireDeadline: now + hour,
    early: false,
    attempts: 0,
    kind: "",
    encoding: "",
    reference: "",
    sourceId: "",
    headers: "",
    past: "",
    payload,
  };
}

function tallyOf(nextSeq: number, itemCount: number): Tally {
  return {
    slot,
    nextSeq,
    itemCount,
    createdAtSum: BigInt(now) * BigInt(itemCount),
    scheduledCount: 0,
    retriedCount: 0,
    expireDeadlineMax: now + hour,
    doomedCount: 0,
    clearReadyBelow: 0,
    clearScheduledBelow: 0,
    clearRetriedBelow: 0,
  };
}

let turn = 0;

function changes(some: Partial<Changes>): Changes {
  turn += 1;
  return {
    turn: { turn, at: now, tag: "" },
    ...nothing,
    ...some,
  };
}

/** Items per second and the 99th percentile of a step, of `act` on one range after the other. */
async function each(
  { items, size }: { items: number; size: number },
  act: (from: number, before: number) => Promise<void>,
): Promise<string[]> {
  const samples = new Samples();
  const begin = performance.now();
  let last = begin;
  for (let from = 0; from < items; from += size) {
    await act(from, Math.min(items, from + size));
    const at = performance.now();
    samples.add(at - last);
    last = at;
  }
  return [rate(items / ((last - begin) / 1_000)), samples.times().p99Ms.toFixed(2)];
}

async function measure(store: Store, size: number): Promise<string[]> {
  const items = itemsOf(size);
  const work = { items, size };
  const insert = await each(work, async (from, before) => {
    const inserted = Array.from({ length: before - from }, (_, index) => itemAt(from + index));
    await store.commit(changes({ insert: inserted, tally: [tallyOf(before, before)] }));
  });
  const read = await each(work, async (from, before) => {
    await readItems(store, { slot, from, before }, everything);
  });
  const lease = await each(work, async (first, before) => {
    const leased = { slot, first, last: before - 1, leaseDeadline: now + hour, leasedAt: now };
    await store.commit(changes({ lease: [leased] }));
  });
  const remove = await each(work, async (first, before) => {
    const seqs = Array.from({ length: before - first }, (_, index) => first + index);
    await store.commit(
      changes({
        remove: [{ slot, seqs }],
        unlease: [{ slot, first }],
        tally: [tallyOf(items, items - before)],
      }),
    );
  });
  return [insert, read, lease, remove].flat();
}

const asked = process.argv.slice(2).map(Number);
const rows: string[][] = [];
for (const size of asked.length > 0 ? asked : sizesDefault) {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-store-"));
  const config = { kind: "sqlite", directory } as const;
  const { store } = await openStore(config, 0, () => newTag(systemRandom));
  try {
    rows.push([size.toLocaleString("en"), ...(await measure(store, size))]);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}
console.log(
  markdownTable(
    [
      "items a commit",
      "insert/s",
      "p99 ms",
      "read/s",
      "p99 ms",
      "lease/s",
      "p99 ms",
      "remove/s",
      "p99 ms",
    ],
    rows,
  ),
);
