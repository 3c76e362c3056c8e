// The partitions where leases with a key were granted recently, so that a repetition is sent to the
// one that has its items. Rebuilt at a start from what each shard reports.

import { Receipts } from "./receipts.ts";

export class GrantedSlots {
  /** Each as a receipt that says its slot; here it is named by its instant alone. */
  readonly #receipts = new Receipts();

  /** In the order of the instants. */
  note(digest: string, slot: number, at: number): void {
    const noted = { digest, fingerprint: "0".repeat(16), operation: "lease" } as const;
    this.#receipts.add({ ...noted, values: [slot] }, { turn: at, at });
  }

  find(digest: string): number | undefined {
    return this.#receipts.find(digest)?.values?.[0];
  }

  /** Those of up to this instant. */
  forget(until: number): void {
    this.#receipts.forget(until);
  }
}
