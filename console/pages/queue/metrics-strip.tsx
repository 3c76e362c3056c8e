import type { ReactNode } from "react";
import type { LogicalQueueStats } from "../../../openapi/schemas.ts";
import { Age, Measured } from "../../components/figures.tsx";
import { type Metric, Metrics, perSecond } from "../../components/metrics.tsx";
import { countText, durationMs, spanOf } from "../../format.ts";
import type { QueueState } from "./queue-state.ts";
import { isDyingNow } from "./status-sentence.ts";

export function MetricsStrip({ state }: { readonly state: QueueState }): ReactNode {
  return <Metrics className="now" of={metricsOf(state)} />;
}

function metricsOf(state: QueueState): readonly Metric[] {
  const { row, inspect, stats, clients, rates, explain, dead } = state;
  const count = (value: number | undefined) => (value === undefined ? null : countText(value));
  const isDying = isDyingNow(explain.data, dead.count);
  return [
    { glyph: "ready", term: "ready", value: count(row?.ready) },
    { glyph: "leased", term: "leased", value: count(row?.leased) },
    {
      glyph: "scheduled",
      term: "scheduled",
      title: "By their producers",
      value: count(inspect.data?.scheduled),
    },
    { glyph: "retry", term: "retry waits", value: count(inspect.data?.retried) },
    {
      glyph: "dead",
      term: "dead",
      title: "Items of this queue in its dead queue",
      value: dead.count === undefined ? null : `${countText(dead.count)}${dead.isPart ? "+" : ""}`,
      ...(isDying && { look: "bad" }),
    },
    { glyph: "in", term: "in", value: perSecond(rates.in) },
    { glyph: "out", term: "out", value: perSecond(rates.out) },
    { glyph: "age", term: "oldest ready", value: oldestOf(row?.oldest_ready_at_ms) },
    {
      glyph: "leased",
      term: "held, mean",
      title: "How long leased items have been leased",
      value: heldOf(stats.data?.logical_queues[0]),
    },
    { glyph: "clients", term: "waiting", value: count(clients.data?.waiting_count) },
  ];
}

function oldestOf(atMs: number | undefined): ReactNode {
  if (atMs === undefined) return null;
  return atMs === 0 ? "–" : <Age at={atMs} />;
}

function heldOf(stats: LogicalQueueStats | undefined): ReactNode {
  if (stats === undefined) return null;
  const ms = durationMs(stats.average_leased_age) ?? 0;
  return ms === 0 ? "–" : <Measured of={spanOf(ms)} />;
}
