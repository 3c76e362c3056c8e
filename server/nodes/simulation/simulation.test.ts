// A few worlds of several nodes; `bun run proof` plays hundreds, in which every situation must
// occur.

import { describe, expect, test } from "bun:test";
import { simulate } from "../../../engine/simulation/simulate.ts";
import { nodeSituationNames, Situations } from "../../../engine/simulation/situations.ts";
import { nodesScenario } from "./scenario.ts";

const steps = 300;

function play(world: { firstSeed: number; seeds: number; trace?: (line: string) => void }) {
  const situations = new Situations(nodeSituationNames);
  return simulate({ ...world, steps, store: "memory", scenario: nodesScenario, situations });
}

describe("simulation of nodes", () => {
  test("I1 to I13 and I15 to I22 hold over nodes that fail, on one database or two", async () => {
    const { found, worlds, sums } = await play({ firstSeed: 1, seeds: 3 });
    expect(found?.message).toBeUndefined();
    expect(worlds).toBe(3);
    expect(sums.commits).toBeGreaterThan(200);
  });

  test("a world is the same whenever its seed is played", async () => {
    const traced = async (): Promise<string[]> => {
      const lines: string[] = [];
      const trace = (line: string): void => {
        lines.push(line);
      };
      await play({ firstSeed: 8, seeds: 1, trace });
      return lines;
    };
    const first = await traced();
    expect(first.length).toBeGreaterThan(100);
    expect(await traced()).toEqual(first);
  });
});
