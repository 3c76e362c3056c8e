import type { ReactNode } from "react";
import type { ItemEvent, ItemExplained } from "../../../../openapi/schemas.ts";
import { StateGlyph } from "../../../components/glyph.tsx";
import { clockText, instantText, type Zone } from "../../../format.ts";
import { useObserved } from "../../../state/observable.ts";
import { zone } from "../../../state/preferences.ts";
import { shortId } from "../source.ts";
import { runsOf, toldOf } from "./history.ts";

export function HistoryView({ told }: { readonly told: ItemExplained }): ReactNode {
  const zoned = useObserved(zone);
  const { history, history_since: since } = told;
  const sinceText = since === null ? "" : clockText(Date.parse(since), zoned);
  return (
    <section aria-label="History">
      <div className="ph">
        <h2>history</h2>
        <span className="muted end">
          {since === null ? "not kept" : `newest first, whole since ${sinceText}`}
        </span>
      </div>
      {since === null && (
        <p className="muted">
          This server keeps none: it was started with <code>--history-bytes 0</code>.
        </p>
      )}
      {since !== null && history.length === 0 && (
        <p className="muted">Nothing has happened to it since then.</p>
      )}
      <div className="line">
        {runsOf(history).map((run, at) =>
          run.what === "apart" ? (
            <Happened key={at} event={run.event} zoned={zoned} />
          ) : (
            <div key={at} className="bracket" data-end={run.end}>
              {run.events.map((event, place) => (
                <Happened key={place} event={event} zoned={zoned} />
              ))}
            </div>
          ),
        )}
      </div>
    </section>
  );
}

interface HappenedProps {
  readonly event: ItemEvent;
  readonly zoned: Zone;
}

function Happened({ event, zoned }: HappenedProps): ReactNode {
  const { glyph, text } = toldOf(event.what);
  const at = Date.parse(event.at);
  return (
    <div className="ev">
      <StateGlyph name={glyph} />
      <time dateTime={event.at} title={instantText(at, zoned)}>
        {clockText(at, zoned)}.{Math.floor((at % 1_000) / 100)}
      </time>
      <p>
        {text}
        {event.by !== "" && (
          <>
            {" by "}
            <b className="mono">{event.by}</b>
          </>
        )}
        <small>
          {event.queue_name === "" ? "a queue that is gone" : <bdi>{event.queue_name}</bdi>}
          {event.partition !== null && ` ${event.partition}`}, {shortId(event.id)}
        </small>
      </p>
    </div>
  );
}
