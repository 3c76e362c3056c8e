// The last 15 minutes of each queue in the window, ten seconds a point: the points that the server
// has kept, then those that the poll adds.

import { useEffect } from "react";
import { ask } from "../../api/call.ts";
import { mayCall } from "../../api/session.ts";
import { type Observable, observable, useObservable } from "../../state/observable.ts";
import { pollState } from "../../state/overview-poll.ts";
import type { QueueRow } from "../../state/overview-state.ts";

const pointMs = 10_000;
const pointsMax = 90;

export interface FlowHistory {
  readonly in: readonly (number | null)[];
  readonly out: readonly (number | null)[];
}

interface StoredHistory {
  readonly lines: Observable<FlowHistory>;
  /** At the end of the last point, with its counters. */
  atMs: number;
  row: QueueRow | undefined;
}

const unknown: readonly null[] = Array.from({ length: pointsMax }, () => null);
const noHistory: FlowHistory = { in: unknown, out: unknown };
const histories = new Map<string, StoredHistory>();
/** Rows in the window without a history. */
const wanted = new Set<string>();
let isLoading = false;

export function useFlowHistory(name: string): FlowHistory {
  const known = histories.get(name) ?? startHistory(name);
  useEffect(() => {
    if (known.lines.get() === noHistory) wanted.add(name);
    return () => void wanted.delete(name);
  }, [name, known]);
  return useObservable(known.lines);
}

function startHistory(name: string): StoredHistory {
  const { overview } = pollState.get();
  const row = overview?.queues.get(name);
  const entry = { lines: observable(noHistory), atMs: overview?.asOfMs ?? 0, row };
  histories.set(name, entry);
  return entry;
}

/** One after the other, and none for queues without traffic. */
async function loadWanted(): Promise<void> {
  if (isLoading) return;
  isLoading = true;
  for (const name of wanted) {
    const entry = histories.get(name);
    const { produced_total: produced = 0, completed_total: completed = 0 } = entry?.row ?? {};
    if (!mayCall() || entry === undefined || produced + completed === 0) continue;
    wanted.delete(name);
    await load(name, entry);
  }
  isLoading = false;
}

async function load(name: string, { lines, atMs }: StoredHistory): Promise<void> {
  const from = new Date(atMs - pointsMax * pointMs).toISOString();
  const body = { queue_name: name, names: ["produced", "completed"], from, step: "10s" };
  // Without an answer the line begins now.
  const reply = await ask("series", body).catch(() => null);
  const [produced = [], completed = []] = reply?.series.map(({ values }) => values) ?? [];
  const perSecond = (value: number) => (value * 1_000) / pointMs;
  lines.set({
    in: lastPoints(produced.map(perSecond)),
    out: lastPoints(completed.map(perSecond)),
  });
}

function lastPoints(values: readonly (number | null)[]): readonly (number | null)[] {
  return [...unknown, ...values].slice(-pointsMax);
}

pollState.subscribe(() => {
  const { overview } = pollState.get();
  if (overview === null) return;
  for (const [name, entry] of histories) {
    const row = overview.queues.get(name);
    if (row === undefined) histories.delete(name);
    else if (overview.asOfMs - entry.atMs >= pointMs) addPoints(entry, row, overview.asOfMs);
  }
  void loadWanted();
});

function addPoints(entry: StoredHistory, row: QueueRow, nowMs: number): void {
  const { atMs, row: last = row } = entry;
  const count = Math.min(pointsMax, Math.floor((nowMs - atMs) / pointMs));
  const added = (now: number, before: number) =>
    Array.from({ length: count }, () => (Math.max(0, now - before) * 1_000) / (nowMs - atMs));
  Object.assign(entry, { atMs: nowMs, row });
  const lines = entry.lines.get();
  if (lines === noHistory) return;
  entry.lines.set({
    in: lastPoints([...lines.in, ...added(row.produced_total, last.produced_total)]),
    out: lastPoints([...lines.out, ...added(row.completed_total, last.completed_total)]),
  });
}
