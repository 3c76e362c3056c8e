// I23: an advance of the test clock reaches the requested instant, and after its answer no due work
// is left.

import { wakeAt } from "../../stores/item.ts";
import { QueueError } from "../model/errors.ts";
import { Violation } from "./auditor.ts";
import type { Bundle } from "./bundle.ts";
import type { Situations } from "./situations.ts";

export interface AdvancesOptions {
  readonly bundle: () => Bundle;
  readonly situations: Situations;
  readonly log: (event: string) => void;
}

export class Advances {
  readonly #options: AdvancesOptions;

  constructor(options: AdvancesOptions) {
    this.#options = options;
  }

  /** `isDying`: the process may end before it answers. */
  async advance(byMs: number, { isDying }: { readonly isDying: boolean }): Promise<void> {
    const { situations, log } = this.#options;
    const bundle = this.#options.bundle();
    const { engine } = bundle;
    const target = bundle.now + byMs;
    log(`the test clock is advanced by ${byMs}`);
    let reported: number | null = null;
    let wrong: unknown = null;
    const answered = (now: number): void => {
      reported = now;
      this.#checkDone(bundle, now);
    };
    engine
      .advance(byMs)
      .then(answered)
      .catch((cause) => {
        wrong = cause;
      });
    await bundle.clock.settle();
    if (isDying && (reported === null || wrong instanceof QueueError)) return;
    if (wrong !== null) throw wrong;
    if (reported !== target || bundle.now !== target) {
      throw new Violation(
        "I23",
        `an advance to ${target} says ${reported}, and it is ${bundle.now}`,
      );
    }
    situations.reached("a test clock is advanced");
  }

  /** Checks the stored state, exactly when the answer arrives. */
  #checkDone({ images, engine }: Bundle, now: number): void {
    // A task uses the clock of the machine, so the items that it sends may be in flight now.
    const mayBeSent = engine
      .listTasks()
      .some(({ state, endedAt }) => state === "running" || endedAt === now);
    for (const [shard, { slots, leases, outbound }] of images.entries()) {
      const left = (what: string, at: number | string): void => {
        throw new Violation("I23", `at ${now} shard ${shard} has ${what}, which was due at ${at}`);
      };
      const held = leases.values();
      for (const { leaseDeadline } of held)
        if (leaseDeadline <= now) left("a lease", leaseDeadline);
      for (const { outboundSeq } of mayBeSent ? [] : outbound.values()) {
        left(`${outboundSeq} to send`, "once");
      }
      for (const [slot, { items, scheduled }] of slots) {
        for (const item of scheduled.values()) {
          if (wakeAt(item) <= now) left("what was scheduled", wakeAt(item));
        }
        const own = held.filter((lease) => lease.slot === slot);
        for (const { seq, expireDeadline } of items.values()) {
          const isHeld = own.some(({ first, last }) => first <= seq && seq <= last);
          if (!isHeld && expireDeadline <= now) left("what has expired", expireDeadline);
        }
      }
    }
  }
}
