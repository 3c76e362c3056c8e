// The conformance suite for all backends: rules for reads first, then for changes, and at last
// random turns against a reference model.

import { describe, test } from "bun:test";
import { Bench, type OpenedStore, type Rule } from "./bench.ts";
import { groupRules } from "./group-rules.ts";
import { itemRules } from "./item-rules.ts";
import { modelRules } from "./model.ts";
import { moveRules } from "./move-rules.ts";
import { queueRules } from "./queue-rules.ts";
import { transferRules } from "./transfer-rules.ts";
import { turnRules } from "./turn-rules.ts";
import { waitingRules } from "./waiting-rules.ts";

/**
 * `open` returns a new backend for each rule. Each seed gives a history of random turns, which
 * takes seconds, so test files that run the same store divide the seeds 1 to 4.
 */
export function describeStore(
  name: string,
  open: () => Promise<OpenedStore>,
  seeds: readonly number[],
): void {
  const rule: Rule = (sentence, check) => {
    const run = async (): Promise<void> => {
      const opened = await open();
      try {
        await check(new Bench(opened));
      } finally {
        await opened.dispose();
      }
    };
    test(sentence, run);
  };

  describe(name, () => {
    itemRules(rule);
    waitingRules(rule);
    turnRules(rule);
    moveRules(rule);
    queueRules(rule);
    groupRules(rule);
    transferRules(rule);
    modelRules(rule, seeds);
  });
}
