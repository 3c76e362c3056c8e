// The stores between which a reshard moves queues.

import type { TransferableStore } from "../../stores/backend.ts";
import type { Item } from "../../stores/item.ts";
import type { Changes, Image, Read, TurnRecord } from "../../stores/store.ts";
import type { Quarantined } from "../../stores/transfer.ts";

export interface OldShard {
  readonly opened: TransferableStore;
  readonly image: Image;
}

/** Writes the store of a new shard, one turn after the other. */
export class NewShard {
  readonly opened: TransferableStore;
  readonly #tag: string;
  #turns = 0;

  constructor(opened: TransferableStore, tag: string) {
    this.opened = opened;
    this.#tag = tag;
  }

  async commit(at: number, changes: (turn: TurnRecord) => Changes): Promise<void> {
    const { store, maintenance } = this.opened;
    this.#turns += 1;
    await (await store.commit(changes({ turn: this.#turns, at, tag: this.#tag }))).synced;
    await maintenance.relieve();
  }

  async quarantine(items: readonly Read<Item>[]): Promise<void> {
    if (items.length === 0) return;
    await this.opened.transfer.quarantine(
      items.map(({ payload, damaged: _, ...item }): Quarantined => {
        const bytes = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
        return { slot: item.slot, seq: item.seq, columns: JSON.stringify(item), payload: bytes };
      }),
    );
  }
}
