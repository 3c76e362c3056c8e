import type { ReactNode } from "react";
import type { ItemEvent, ItemExplained } from "../../../../openapi/schemas.ts";
import { StateGlyph } from "../../../components/glyph/glyph.tsx";
import type { GlyphName } from "../../../components/glyph/glyph-paths.ts";
import { Section } from "../../../components/section.tsx";
import { clockText, instantText, type Zone } from "../../../format.ts";
import { useZone } from "../../../state/preferences.ts";
import { shortId } from "../source.ts";

export function HistoryView({ of }: { readonly of: ItemExplained }): ReactNode {
  const zone = useZone();
  const { history, history_since: since } = of;
  const sinceText = since === null ? "" : clockText(Date.parse(since), zone);
  return (
    <Section
      className=""
      id="history"
      title="history"
      aside={
        <span className="muted end">
          {since === null ? "none" : `newest first, complete since ${sinceText}`}
        </span>
      }
    >
      {since === null && (
        <p className="muted">
          The id is unknown, or the server was started with <code>--history-bytes 0</code>.
        </p>
      )}
      {since !== null && history.length === 0 && <p className="muted">No events since then.</p>}
      <div className="line">
        {runsOf(history).map((run, at) =>
          run.what === "single" ? (
            <Event key={at} event={run.event} zone={zone} />
          ) : (
            <div key={at} className="bracket" data-end={run.end}>
              {run.events.map((event, place) => (
                <Event key={place} event={event} zone={zone} />
              ))}
            </div>
          ),
        )}
      </div>
    </Section>
  );
}

function Event({ event, zone }: { readonly event: ItemEvent; readonly zone: Zone }): ReactNode {
  const { glyph, text } = wordsOf(event.kind);
  const at = Date.parse(event.at);
  return (
    <div className="ev">
      <StateGlyph name={glyph} />
      <time dateTime={event.at} title={instantText(at, zone)}>
        {clockText(at, zone)}.{Math.floor((at % 1_000) / 100)}
      </time>
      <p>
        {text}
        {event.holder !== "" && (
          <>
            {" by "}
            <b className="mono">{event.holder}</b>
          </>
        )}
        <small>
          {event.queue_name === "" ? "a deleted queue" : <bdi>{event.queue_name}</bdi>}
          {event.partition !== null && ` ${event.partition}`}, {shortId(event.id)}
        </small>
      </p>
    </div>
  );
}

export interface LeaseRun {
  readonly what: "run";
  /** How the lease ended; `open`: it runs. */
  readonly end: "open" | "lapsed" | "retried" | "done";
  /** The newest first. */
  readonly events: readonly ItemEvent[];
}

export interface SingleEvent {
  readonly what: "single";
  readonly event: ItemEvent;
}

const ends: Readonly<Record<string, LeaseRun["end"]>> = {
  completed: "done",
  retried: "retried",
  released: "done",
  lapsed: "lapsed",
  expired: "lapsed",
  rejected: "retried",
  dead: "retried",
  discarded: "retried",
  removed: "done",
};

export function runsOf(history: readonly ItemEvent[]): readonly (LeaseRun | SingleEvent)[] {
  const runs: (LeaseRun | SingleEvent)[] = [];
  let open: ItemEvent[] | null = null;
  const close = (end: LeaseRun["end"]) => {
    if (open !== null) runs.push({ what: "run", end, events: open.toReversed() });
    open = null;
  };
  for (const event of history) {
    if (event.kind === "leased") {
      close("open");
      open = [event];
      continue;
    }
    if (open === null) {
      runs.push({ what: "single", event });
      continue;
    }
    open.push(event);
    const end = ends[event.kind];
    if (end !== undefined) close(end);
    else if (event.kind !== "extended") close("done");
  }
  close("open");
  return runs.toReversed();
}

interface Words {
  readonly glyph: GlyphName;
  readonly text: string;
}

const words: Readonly<Record<string, Words>> = {
  produced: { glyph: "in", text: "produced" },
  imported: { glyph: "in", text: "imported" },
  due: { glyph: "ready", text: "due" },
  leased: { glyph: "leased", text: "leased" },
  extended: { glyph: "leased", text: "lease extended" },
  completed: { glyph: "done", text: "completed" },
  retried: { glyph: "retry", text: "retried" },
  released: { glyph: "ready", text: "released" },
  lapsed: { glyph: "lapse", text: "lease lapsed" },
  expired: { glyph: "age", text: "expired" },
  dead: { glyph: "dead", text: "dead-lettered" },
  discarded: { glyph: "dead", text: "discarded: there was no dead queue" },
  redriven: { glyph: "out", text: "redriven: left the dead queue" },
  returned: { glyph: "in", text: "returned from the dead queue" },
  promoted: { glyph: "ready", text: "made ready before its time" },
  rejected: { glyph: "dead", text: "rejected by an operator" },
  prioritized: { glyph: "ready", text: "given another priority by an operator" },
  removed: { glyph: "clear", text: "removed" },
  damaged: { glyph: "down", text: "damaged" },
};

/** A newer server may have more events, which are shown by their names. */
export function wordsOf(kind: string): Words {
  return words[kind] ?? { glyph: "note", text: kind.replaceAll("_", " ") };
}
