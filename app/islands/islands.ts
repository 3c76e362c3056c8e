// The parts of pages that are rendered again in the browser, by name. Each is one component that
// takes plain values. Its stylesheet is imported where the island is placed: there it is part of
// the page, here it would be asked for once more.

import type { ComponentType } from "react";

const islands = {
  simulator: () =>
    import("../simulator/lease-simulator.tsx").then(({ LeaseSimulator }) => LeaseSimulator),
} satisfies Readonly<Record<string, () => Promise<ComponentType<never>>>>;

export type IslandName = keyof typeof islands;

/** Rejects when its code cannot be had. */
export async function loadIsland(name: IslandName): Promise<ComponentType<object>> {
  return (await islands[name]()) as ComponentType<object>;
}
