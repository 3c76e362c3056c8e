// Plans a reshard: the new shard of each queue, and the new slots of its partitions. Reads and
// writes no store.

import type { CatalogEntry, PartitionPlace } from "../../stores/queue.ts";
import type { Image } from "../../stores/store.ts";
import { Epochs } from "../model/epochs.ts";
import { tooMany } from "../model/errors.ts";
import { limits } from "../model/limits.ts";
import { shardOf } from "../model/placement.ts";
import { priorities, slotFor } from "../model/priority.ts";
import type { Random } from "../model/random.ts";
import { epochsIn } from "../turn/label.ts";

export interface NewPlace {
  readonly shard: number;
  readonly slot: number;
}

export interface ShardPlan {
  readonly queues: readonly CatalogEntry[];
  readonly epochs: Epochs;
  /** The old shards that have some of these queues. */
  readonly sources: ReadonlySet<number>;
}

export interface ReshardPlan {
  /** By the number of the new shard. */
  readonly shards: readonly ShardPlan[];
  /** By the number of the old shard, and by slot. Unused slots have no place. */
  readonly places: readonly ReadonlyMap<number, NewPlace>[];
}

/** `images`: of the old shards, in their order. */
export function planReshard(
  images: readonly Image[],
  shardCount: number,
  random: Random,
): ReshardPlan {
  const queueIds = images.flatMap(({ queues }) => queues.map(({ queueId }) => queueId));
  const last = { queueId: queueIds.reduce((most, queueId) => Math.max(most, queueId), 0) };
  const planned = Array.from({ length: shardCount }, () => new PlannedShard(last));
  const places = images.map((image, source) => {
    const epochs = epochsIn(image.tags);
    const nextSeqs = new Map(image.tallies.map(({ slot, nextSeq }) => [slot, nextSeq]));
    const placed = new Map<number, NewPlace>();
    for (const entry of image.queues) {
      const shard = shardOf(entry.definition.name, shardCount);
      const { places } = (planned[shard] as PlannedShard).add(entry, { source, epochs, nextSeqs });
      for (const [index, { slot }] of entry.places.entries()) {
        for (const priority of priorities) {
          const into = slotFor(places[index]?.slot ?? 0, priority);
          placed.set(slotFor(slot, priority), { shard, slot: into });
        }
      }
    }
    return placed;
  });
  return { shards: planned.map((shard) => shard.plan(random)), places };
}

interface OldPartitions {
  readonly source: number;
  readonly epochs: Epochs;
  readonly nextSeqs: ReadonlyMap<number, number>;
}

class PlannedShard {
  readonly #queues: CatalogEntry[] = [];
  readonly #queueIds = new Set<number>();
  readonly #sources = new Set<number>();
  /** Index of earlier epochs, by their text. */
  readonly #earlier = new Map<string, number>();
  readonly #last: { queueId: number };
  #slots = 0;
  #begin = 0;

  /** `last`: the highest queue number of all shards. */
  constructor(last: { queueId: number }) {
    this.#last = last;
  }

  add(entry: CatalogEntry, { source, epochs, nextSeqs }: OldPartitions): CatalogEntry {
    this.#sources.add(source);
    const places = entry.places.map((place): PartitionPlace => {
      const before = (place.origins ?? []).map((origin) => ({
        epochs: this.#indexOf(epochs.earlierAt(origin.epochs)),
        slot: origin.slot,
      }));
      const origins = [...before, { epochs: this.#indexOf(epochs.own), slot: place.slot }];
      const slots = priorities.map((priority) => slotFor(place.slot, priority));
      const seqs = slots.map((slot) => nextSeqs.get(slot) ?? 0);
      this.#begin = Math.max(this.#begin, ...seqs, epochs.begin);
      return { ...place, slot: this.#newSlot(), origins };
    });
    const moved = { ...entry, ...this.#numbered(entry), places };
    this.#queues.push(moved);
    return moved;
  }

  /** Shards number their queues independently, so two may have the same number. */
  #numbered({ queueId, createdAs = queueId }: CatalogEntry): Partial<CatalogEntry> {
    if (!this.#queueIds.has(queueId)) {
      this.#queueIds.add(queueId);
      return {};
    }
    this.#last.queueId += 1;
    return { queueId: this.#last.queueId, createdAs };
  }

  #newSlot(): number {
    if (this.#slots === limits.slotsMax) {
      throw tooMany("too_many", "partitions of a shard", limits.slotsMax);
    }
    this.#slots += 1;
    return this.#slots - 1;
  }

  #indexOf({ text }: Epochs): number {
    const known = this.#earlier.get(text);
    if (known !== undefined) return known;
    this.#earlier.set(text, this.#earlier.size);
    return this.#earlier.size - 1;
  }

  plan(random: Random): ShardPlan {
    const earlier = [...this.#earlier.keys()].map((text) => Epochs.parse(text));
    const epochs = Epochs.after(earlier, this.#begin, random);
    return { queues: this.#queues, epochs, sources: this.#sources };
  }
}
