import type { ReactNode } from "react";
import { Measured } from "../../components/figures.tsx";
import { type Metric, Metrics, perSecond } from "../../components/metrics.tsx";
import { countText, spanOf } from "../../format.ts";
import { useOverview } from "../../state/overview-poll.ts";
import { type Overview, ratesOf } from "../../state/overview-state.ts";
import { useServerNow } from "../../state/server-time.ts";

export function Totals(): ReactNode {
  const overview = useOverview();
  const now = useServerNow();
  return (
    <section aria-label="Totals">
      <div className="ph">
        <h2>all queues</h2>
      </div>
      <Metrics className="ledger" of={metricsOf(overview, now)} />
    </section>
  );
}

function metricsOf(overview: Overview | null, nowMs: number): readonly Metric[] {
  const totals = overview?.totals;
  const rates = overview ? ratesOf(overview.totals, overview.asOfMs) : { in: null, out: null };
  return [
    { glyph: "ready", term: "ready", value: countText(totals?.ready ?? 0) },
    { glyph: "leased", term: "leased", value: countText(totals?.leased ?? 0) },
    { glyph: "scheduled", term: "scheduled", value: countText(totals?.scheduled ?? 0) },
    {
      glyph: "dead",
      term: "died",
      title: "Items that went to a dead queue since the server was started",
      value: countText(totals?.dead_total ?? 0),
    },
    { glyph: "in", term: "in", value: perSecond(rates.in) },
    { glyph: "out", term: "out", value: perSecond(rates.out) },
    { glyph: "age", term: "oldest ready", value: oldestOf(overview, nowMs) },
    {
      glyph: "clients",
      term: "lease requests",
      title: "Lease requests that wait for an item",
      value: countText(totals?.waiting_leases ?? 0),
    },
  ];
}

function oldestOf(overview: Overview | null, nowMs: number): ReactNode {
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const { oldest_ready_at_ms: at } of overview?.queues.values() ?? []) {
    if (at > 0) oldestMs = Math.min(oldestMs, at);
  }
  return Number.isFinite(oldestMs) ? <Measured of={spanOf(nowMs - oldestMs)} /> : "–";
}
