// Which tab of each group is selected: shared by all tabs of a page, kept between
// visits.

import { useState, useSyncExternalStore } from "react";

const listeners = new Set<() => void>();

function keyOf(group: string): string {
  return `tabs.${group}`;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function remembered(group: string | undefined): string | null {
  if (group === undefined) return null;
  try {
    return localStorage.getItem(keyOf(group));
  } catch {
    return null;
  }
}

/** Index of the selected label, and how to select one; a group without this label keeps its first. */
export function useSelectedTab(
  group: string | undefined,
  labels: readonly string[],
): readonly [number, (label: string) => void] {
  const [own, setOwn] = useState<string | null>(null);
  const shared = useSyncExternalStore(
    subscribe,
    () => remembered(group),
    () => null,
  );
  const label =
    own !== null && (group === undefined || !labels.includes(shared ?? "")) ? own : shared;
  const select = (chosen: string) => {
    setOwn(chosen);
    if (group === undefined) return;
    try {
      localStorage.setItem(keyOf(group), chosen);
    } catch {
      // A browser that keeps nothing still shows the chosen tab here.
    }
    for (const listener of listeners) listener();
  };
  return [Math.max(0, labels.indexOf(label ?? "")), select];
}
