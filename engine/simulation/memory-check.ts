// I12: after a commit, the memory of a shard equals the memory that a start would read from its
// store. No other check looks inside the engine. This one shows traces of a failed commit long
// before an answer does.

import type { Item, ScheduledItem } from "../../stores/item.ts";
import { readItems, readScheduled } from "../../stores/single-reads.ts";
import { noReads, type Read, type Store } from "../../stores/store.ts";
import { limits } from "../model/limits.ts";
import { noOthers } from "../state/group.ts";
import { Memory } from "../state/memory.ts";
import type { Partition } from "../state/partition.ts";
import { Violation } from "./auditor.ts";

const everything = {
  items: Number.MAX_SAFE_INTEGER,
  payloadBytes: Number.POSITIVE_INFINITY,
};

/** Throws `Violation` if they differ. */
export async function checkMemory(shard: number, memory: Memory, store: Store): Promise<void> {
  const { rules, epochs } = memory;
  const stored = await Memory.load(shard, store, { rules, epochs });
  const inMemory = textOf(shard, memory);
  const inStore = textOf(shard, stored.memory);
  if (inMemory !== inStore) {
    const text = `shard ${shard} has in memory\n${inMemory}\nand in its store\n${inStore}`;
    throw new Violation("I12", text);
  }
  const ends = { until: Number.MAX_SAFE_INTEGER, keys: 0 };
  const { next } = (await store.read({ ...noReads, ended: ends })).ended;
  if (next !== null && memory.uniqueFloor > next + limits.uniqueBunchMs) {
    const text = `a unique key ends at ${next}, but keys are examined only from ${memory.uniqueFloor} on`;
    throw new Violation("I12", text);
  }
  for (const [slot, partition] of memory.partitions) {
    const { itemCount, asideCount } = partition;
    const span = { slot, from: 0, before: limits.seqMax };
    const items = (await readItems(store, span, everything)).found;
    const aside = (await readScheduled(store, span, everything)).found;
    const counts = `${itemCount} and ${asideCount}`;
    if (counts !== `${items.length} and ${aside.length}`) {
      const text = `slot ${slot} counts ${counts}, but has ${items.length} and ${aside.length}`;
      throw new Violation("I12", text);
    }
    checkInstants(partition, items, aside);
  }
}

/** The instants of the oldest ready item and of the next due item are never too late. */
function checkInstants(
  partition: Partition,
  items: readonly Read<Item>[],
  aside: readonly Read<ScheduledItem>[],
): void {
  const { slot, held, clearReadyBelow, oldestReadyAt, nextDueAt } = partition;
  const isReady = ({ seq, early, damaged }: Read<Item>): boolean =>
    !damaged && !early && !held.has(seq) && seq >= clearReadyBelow;
  const oldest = items.find(isReady)?.queuedAt ?? Number.POSITIVE_INFINITY;
  const dueAts = aside.filter(({ damaged }) => !damaged).map(({ dueAt }) => dueAt);
  const next = dueAts.reduce((first, dueAt) => Math.min(first, dueAt), Number.POSITIVE_INFINITY);
  const isDueKnown = dueAts.length === 0 || nextDueAt !== null;
  if ((oldestReadyAt ?? oldest) <= oldest && (nextDueAt ?? next) <= next && isDueKnown) return;
  const text = `ready since ${oldestReadyAt} and due at ${nextDueAt}`;
  throw new Violation("I12", `slot ${slot} is ${text}, but has ${oldest} and ${next}`);
}

function textOf(shard: number, memory: Memory): string {
  const lines: string[] = [];
  const groupLines: string[] = [];
  for (const slot of [...memory.partitions.keys()].sort((a, b) => a - b)) {
    const partition = memory.partition(slot);
    const { itemCount, held, scheduledCount, retriedCount, nextSeq } = partition;
    if (nextSeq === memory.epochs.first && itemCount + partition.asideCount === 0) continue;
    const runs = [...held]
      .sort(([a], [b]) => a - b)
      .map(
        ([seq, { run, createdAt, expireDeadline, attempts }]) =>
          `${seq}@${createdAt}×${attempts}<${run.lease.leaseDeadline}<${expireDeadline}`,
      );
    const heldCounts = [...partition.runs]
      .map(({ lease, heldCount }) => `${lease.first}-${lease.last}:${heldCount}`)
      .sort();
    const { createdAtSum, expireDeadlineMax, clearReadyBelow, clearScheduledBelow } =
      partition.tally();
    lines.push(
      `slot ${slot}: next ${nextSeq}, items ${itemCount} (${createdAtSum}), ready ${partition.readyCount}`,
      `  scheduled ${scheduledCount}, retried ${retriedCount}, expires by ${expireDeadlineMax}, doomed ${partition.doomedCount}`,
      `  clearing ${clearReadyBelow} ${clearScheduledBelow} ${partition.clearRetriedBelow}`,
      `  held ${runs.join(" ")} in ${heldCounts.join(" ")}`,
    );
  }
  for (const [slot, groups] of memory.groups) {
    for (const { name, waiting, leased, others } of groups.all) {
      const { scheduled, retried, away } = others ?? noOthers;
      groupLines.push(
        `group ${slot} ${name}: ${waiting} ${leased} ${scheduled} ${retried} ${away}`,
      );
    }
    for (const own of groups.settings.values()) groupLines.push(`${slot} ${JSON.stringify(own)}`);
  }
  lines.push(
    ...groupLines.sort(),
    `outbox ${outboxOf(memory)}, last ${memory.outbox.seqLast}`,
    // Without the shard itself: its entry is the last item sent, which `last` contains.
    `inbound ${[...memory.inbound]
      .filter(([source]) => source !== shard)
      .sort(([a], [b]) => a - b)
      .join(" ")}`,
    `arrived ${[...memory.arrived].sort(([a], [b]) => a - b).join(" ")}`,
    `receipts ${[...memory.receipts].map(({ digest, fingerprint, values, turn, at }) => `${digest}:${fingerprint}=${values?.join(",") ?? "-"}@${turn}/${at}`).join(" ")}`,
    `epoch ${memory.epochs.tag}, ${memory.isEpochNew ? "to be stored" : "stored"}`,
    `turn ${memory.lastTurn.turn} at ${memory.lastTurn.at}`,
  );
  return lines.join("\n");
}

function outboxOf(memory: Memory): string {
  const counts = memory.outbox.counts();
  return counts
    .map(({ targetShard, targetOwner, count }) => `${targetShard}:${targetOwner}×${count}`)
    .sort()
    .join(" ");
}
