// Hands out the outbox for another shard, page by page. Each request acknowledges the pages before
// it, whose items then leave the outbox.

import type { OutboundItem } from "../../stores/item.ts";
import type { Result } from "../model/messages.ts";
import { answering, type Operation } from "../operations/operation.ts";
import type { Turn } from "../turn/turn-context.ts";
import { arrivedKey } from "./outbox.ts";

export interface Forward {
  readonly kind: "forward";
  readonly targetShard: number;
  /** The target has everything handed out up to this number. */
  readonly arrived: number;
  /** Numbers of items for unknown queues, to be set aside; absent = none. */
  readonly strays?: readonly number[];
}

export const forward: Operation<Forward> = {
  phase: "within",
  planReads({ limits, outbound }, requests) {
    for (const { targetShard, arrived } of requests) {
      const limit = { items: limits.sweepItemsMax, payloadBytes: limits.turnBytesMax };
      outbound.push({ targetShard, arrived, limit });
    }
  },
  decide: answering(forwardOne),
};

function forwardOne(
  { memory, changeSet, readResult }: Turn,
  { targetShard, strays }: Forward,
): Result {
  const { outbox } = memory;
  const page = readResult.outbound.get(targetShard);
  for (const { outboundSeq, targetOwner } of page?.arrived ?? []) {
    outbox.remove(targetShard, targetOwner);
    changeSet.unsend.push(outboundSeq);
    changeSet.sent.add(targetShard);
  }
  const last = Math.max(0, ...(page?.arrived ?? []).map(({ outboundSeq }) => outboundSeq));
  if (last > (memory.arrived.get(targetShard) ?? 0)) {
    memory.arrived.set(targetShard, last);
    changeSet.receive.push({ sourceShard: arrivedKey(targetShard), outboundSeq: last });
  }
  const items: OutboundItem[] = [];
  const lost = new Set(strays);
  for (const { damaged, ...item } of page?.found ?? []) {
    if (!(damaged || lost.has(item.outboundSeq))) {
      items.push(item);
      continue;
    }
    outbox.remove(targetShard, item.targetOwner);
    changeSet.quarantineOutbound.push(item.outboundSeq);
    if (damaged) changeSet.quarantinedCount += 1;
    changeSet.sent.add(targetShard);
  }
  return { ok: true, value: { kind: "outbound", items } };
}
