// The parts of pages that are rendered again in the browser, by name. A stylesheet is imported
// where the island is placed: there it is part of the page, here it would be asked for once more.

import type { ComponentType } from "react";

const islands: Readonly<Record<string, () => Promise<ComponentType>>> = {
  simulator: () =>
    import("../simulator/lease-simulator.tsx").then(({ LeaseSimulator }) => LeaseSimulator),
};

/** Rejects when its code cannot be had. */
export async function loadIsland(name: string): Promise<ComponentType> {
  const load = islands[name];
  if (load === undefined) throw new Error(`there is no island '${name}'`);
  return await load();
}
