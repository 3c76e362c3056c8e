// Plays every world that ever failed, of all stores.

import { expect, test } from "bun:test";
import failedOnce from "../engine/simulation/seeds.json" with { type: "json" };
import { simulate } from "../engine/simulation/simulate.ts";
import { nodeSituationNames, Situations } from "../engine/simulation/situations.ts";
import { nodesScenario } from "../server/nodes/simulation/scenario.ts";

test.each(failedOnce)(
  "seed $seed of $store, once failed by the $whose: $why",
  async ({ seed, steps, store }) => {
    const isNodes = store === "nodes";
    const { found } = await simulate({
      ...{ firstSeed: seed, seeds: 1, steps },
      store: store === "sqlite" ? "sqlite" : "memory",
      ...(isNodes && { scenario: nodesScenario }),
      situations: isNodes ? new Situations(nodeSituationNames) : new Situations(),
    });
    expect(found?.message).toBeUndefined();
  },
);
