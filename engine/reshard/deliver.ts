// Delivers items in transit between the old shards. Receivers recognize duplicates by numbers of
// the old shards, so nothing may stay in transit. A queue takes an item as it would from an outbox.

import type { OutboundItem } from "../../stores/item.ts";
import type { Image, Read } from "../../stores/store.ts";
import type { Clock } from "../model/clock.ts";
import { ownerOf } from "../model/idempotency-key.ts";
import { limits } from "../model/limits.ts";
import { receiveOne } from "../relay/receive.ts";
import { Catalog } from "../state/catalog.ts";
import { Memory } from "../state/memory.ts";
import { lastingOf } from "../state/queue.ts";
import { ChangeSet } from "../turn/change-set.ts";
import type { ReshardPlan } from "./plan.ts";
import type { NewShard, OldShard } from "./shard-stores.ts";

export interface Delivery {
  readonly sources: readonly OldShard[];
  readonly targets: readonly NewShard[];
  readonly plan: ReshardPlan;
  readonly clock: Clock;
  /** The instant at which all of them arrive. */
  readonly now: number;
}

/** Returns the number of items delivered. */
export async function deliver(delivery: Delivery): Promise<number> {
  const { sources, targets, plan } = delivery;
  const images = sources.map(({ image }) => image);
  if (images.every(({ outbox }) => outbox.length === 0)) return 0;
  const shards = new Map<number, number>();
  for (const [shard, { queues }] of plan.shards.entries()) {
    for (const entry of queues) shards.set(ownerOf(lastingOf(entry, entry.createdAs)), shard);
  }
  const receivers = await Promise.all(targets.map((_, shard) => receiverOf(delivery, shard)));
  let arrived = 0;
  for (const [sourceShard, { opened }] of sources.entries()) {
    for (let after = 0; ; ) {
      const page = await opened.transfer.outbound(after, limits.reshardPage);
      after = page.at(-1)?.outboundSeq ?? after;
      if (page.length === 0) break;
      const missing = page.filter((item) => !hasArrived(images, sourceShard, item));
      const byShard = Map.groupBy(missing, ({ targetOwner }) => shards.get(targetOwner));
      for (const [shard, items] of byShard) {
        const whole = shard === undefined ? [] : items.filter(({ damaged }) => !damaged);
        const others = shard === undefined ? items : items.filter(({ damaged }) => damaged);
        await (targets[shard ?? 0] as NewShard).quarantine(others);
        await receivers[shard ?? 0]?.(sourceShard, whole);
        arrived += whole.length;
      }
    }
  }
  return arrived;
}

/** Whether the target has it, although the sender has not removed it yet. */
function hasArrived(
  images: readonly Image[],
  source: number,
  { targetShard, outboundSeq }: OutboundItem,
): boolean {
  const inbound = images[targetShard]?.inbound ?? [];
  const last = inbound.find(({ sourceShard }) => sourceShard === source);
  return last !== undefined && outboundSeq <= last.outboundSeq;
}

type Receiver = (sourceShard: number, items: readonly Read<OutboundItem>[]) => Promise<void>;

async function receiverOf(delivery: Delivery, shard: number): Promise<Receiver> {
  const { targets, plan, clock, now } = delivery;
  const target = targets[shard] as NewShard;
  const rules = new Catalog({ clock, shard, shardCount: targets.length });
  rules.adopt(plan.shards[shard]?.queues ?? []);
  const { memory } = await Memory.load(shard, target.opened.store, { rules });
  for (const partition of memory.partitions.values()) memory.updateLoad(partition);
  return async (sourceShard, items) => {
    if (items.length === 0) return;
    const changeSet = new ChangeSet();
    const context = { shard, memory, changeSet, now, stamp: now, limits };
    for (const { damaged: _, ...item } of items) receiveOne(context, item, sourceShard);
    await target.commit(now, (turn) => changeSet.changes(turn, null));
  };
}
