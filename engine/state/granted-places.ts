// The partitions where leases with a key were granted recently, so that a repetition is sent to the
// one that has its items. Rebuilt at a start from what each shard reports.

import type { PartitionPlace } from "../../stores/queue.ts";
import { Receipts } from "./receipts.ts";

type Place = Pick<PartitionPlace, "shard" | "slot">;

export class GrantedPlaces {
  /** Each as a receipt that says its place; here it is named by its instant alone. */
  readonly #receipts = new Receipts();

  /** In the order of the instants. */
  note(digest: string, { shard, slot }: Place, at: number): void {
    const noted = { digest, fingerprint: "0".repeat(16), operation: "lease" } as const;
    this.#receipts.add({ ...noted, values: [shard, slot] }, { turn: at, at });
  }

  find(digest: string): Place | undefined {
    const [shard, slot] = this.#receipts.find(digest)?.values ?? [];
    return shard === undefined || slot === undefined ? undefined : { shard, slot };
  }

  /** Those of up to this instant. */
  forget(until: number): void {
    this.#receipts.forget(until);
  }
}
