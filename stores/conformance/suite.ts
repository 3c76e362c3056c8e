// What every backend has to do, as a suite that each runs. Rules come from what is read
// to what is changed; the last ones play random turns against a model that is too plain
// to be wrong.

import { describe, test } from "bun:test";
import { Bench, type OpenedStore, type Rule } from "./bench.ts";
import { itemRules } from "./item-rules.ts";
import { modelRules } from "./model.ts";
import { moveRules } from "./move-rules.ts";
import { queueRules } from "./queue-rules.ts";
import { transferRules } from "./transfer-rules.ts";
import { turnRules } from "./turn-rules.ts";
import { waitingRules } from "./waiting-rules.ts";

/**
 * `open` makes a backend of its own for each rule. Of each seed comes a history of random turns;
 * one takes seconds, so the seeds 1 to 4 are shared out among those who run the same store.
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
    transferRules(rule);
    modelRules(rule, seeds);
  });
}
