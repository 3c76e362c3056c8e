import type { ReactNode } from "react";
import type { LogicalQueueStats } from "../../../openapi/schemas.ts";
import { Age, Measured } from "../../components/figures.tsx";
import { StateGlyph } from "../../components/glyph.tsx";
import type { GlyphName } from "../../components/glyph-paths.ts";
import { countText, rateText, spanOf } from "../../format.ts";
import { durationMs } from "./duration.ts";
import type { QueueState } from "./queue-state.ts";
import { isDyingNow } from "./status-sentence.ts";

interface Figure {
  readonly glyph: GlyphName;
  readonly term: string;
  readonly title?: string;
  readonly value: ReactNode;
  readonly look?: "bad";
}

export function Now({ state }: { readonly state: QueueState }): ReactNode {
  return (
    <dl className="now">
      {figuresOf(state).map(({ glyph, term, title, value, look }) => (
        <div key={term} title={title}>
          <dt>
            <StateGlyph name={glyph} />
            {term}
          </dt>
          <dd className={look}>{value ?? <span className="unknown">–</span>}</dd>
        </div>
      ))}
    </dl>
  );
}

function figuresOf({
  row,
  inspect,
  stats,
  clients,
  rates,
  explain,
  dead,
}: QueueState): readonly Figure[] {
  const told = inspect.data;
  const count = (value: number | undefined) => (value === undefined ? null : countText(value));
  const isDying = isDyingNow(explain.data, dead.count);
  return [
    { glyph: "ready", term: "ready", value: count(row?.ready) },
    { glyph: "leased", term: "leased", value: count(row?.leased) },
    {
      glyph: "scheduled",
      term: "scheduled",
      title: "By their producers",
      value: count(told?.scheduled),
    },
    { glyph: "retry", term: "retry waits", value: count(told?.retried) },
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
    { glyph: "clients", term: "ask", value: count(clients.data?.asking_count) },
  ];
}

function perSecond(rate: number | null): ReactNode {
  return (
    <>
      {rateText(rate)} <small>/s</small>
    </>
  );
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
