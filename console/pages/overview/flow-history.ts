// The last quarter of an hour of each queue that was seen, ten seconds a point: what the server
// kept, then what the poll saw.

import { useEffect } from "react";
import { ask } from "../../api/call.ts";
import { isAwaited } from "../../api/session.ts";
import { type Observed, observed, useObserved } from "../../state/observable.ts";
import { seen } from "../../state/overview-poll.ts";
import type { Overview, QueueRow } from "../../state/overview-state.ts";

export const pointMs = 10_000;
export const pointsMax = 90;

export interface FlowHistory {
  readonly in: readonly (number | null)[];
  readonly out: readonly (number | null)[];
}

interface Kept {
  readonly lines: Observed<FlowHistory>;
  /** Counters at the end of the last point. */
  atMs: number;
  produced: number;
  completed: number;
}

const unknown: readonly null[] = Array.from({ length: pointsMax }, () => null);
const noHistory: FlowHistory = { in: unknown, out: unknown };
const kept = new Map<string, Kept>();
/** Rows that are seen and whose history was not asked for, as they stand. */
const wanted = new Set<string>();
let isLoading = false;

export function useFlowHistory(name: string): FlowHistory {
  const known = kept.get(name) ?? begin(name);
  useEffect(() => {
    if (known.lines.get() === noHistory) wanted.add(name);
    return () => void wanted.delete(name);
  }, [name, known]);
  return useObserved(known.lines);
}

function begin(name: string): Kept {
  const row = seen.get().overview?.queues.get(name);
  const asOfMs = seen.get().overview?.asOfMs ?? 0;
  const entry = {
    lines: observed(noHistory),
    atMs: asOfMs,
    produced: row?.produced_total ?? 0,
    completed: row?.completed_total ?? 0,
  };
  kept.set(name, entry);
  return entry;
}

/** One after the other, and none for a queue that nothing came to: there is nothing to tell. */
function loadNext(): void {
  for (const name of isLoading || !isAwaited() ? [] : wanted) {
    const row = last?.queues.get(name);
    const entry = kept.get(name);
    if (entry === undefined || !row || row.produced_total + row.completed_total === 0) continue;
    wanted.delete(name);
    isLoading = true;
    void load(name, entry).finally(() => {
      isLoading = false;
      loadNext();
    });
    return;
  }
}

async function load(name: string, entry: Kept): Promise<void> {
  const from = new Date(entry.atMs - pointsMax * pointMs).toISOString();
  const names = ["produced", "completed"];
  const reply = await ask("series", { queue_name: name, names, from, step: "10s" }).catch(
    () => null,
  );
  // Without what was kept there is what is seen from now on.
  const [produced = [], completed = []] = reply?.series.map(({ values }) => values) ?? [];
  const seconds = pointMs / 1_000;
  entry.lines.set({
    in: lastPoints(produced.map((value) => value / seconds)),
    out: lastPoints(completed.map((value) => value / seconds)),
  });
}

function lastPoints(values: readonly (number | null)[]): readonly (number | null)[] {
  return [...unknown, ...values].slice(-pointsMax);
}

let last: Overview | null = null;

seen.subscribe(() => {
  const { overview } = seen.get();
  if (overview === null || overview === last) return;
  last = overview;
  for (const [name, entry] of kept) {
    const row = overview.queues.get(name);
    if (row === undefined) kept.delete(name);
    else if (overview.asOfMs - entry.atMs >= pointMs) addPoints(entry, row, overview.asOfMs);
  }
  loadNext();
});

function addPoints(entry: Kept, row: QueueRow, nowMs: number): void {
  const count = Math.min(pointsMax, Math.floor((nowMs - entry.atMs) / pointMs));
  const seconds = (nowMs - entry.atMs) / 1_000;
  const rate = (now: number, before: number) => Math.max(0, now - before) / seconds;
  const values = {
    in: rate(row.produced_total, entry.produced),
    out: rate(row.completed_total, entry.completed),
  };
  Object.assign(entry, {
    atMs: nowMs,
    produced: row.produced_total,
    completed: row.completed_total,
  });
  const before = entry.lines.get();
  if (before === noHistory) return;
  const added = (value: number) => Array.from({ length: count }, () => value);
  entry.lines.set({
    in: lastPoints([...before.in, ...added(values.in)]),
    out: lastPoints([...before.out, ...added(values.out)]),
  });
}
