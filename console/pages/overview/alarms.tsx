import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { Link } from "react-router";
import type { OverviewAlarm } from "../../../openapi/schemas.ts";
import { itemsAddress, queueAddress } from "../../addresses.ts";
import { Button } from "../../components/button.tsx";
import { Empty } from "../../components/empty.tsx";
import { StateGlyph } from "../../components/glyph.tsx";
import type { GlyphName } from "../../components/glyph-paths.ts";
import { useIsPhone } from "../../components/use-is-phone.ts";
import { itemsText, many, spanText, unturned } from "../../format.ts";
import { wordOf } from "../../state/health.ts";
import { useObserved } from "../../state/observable.ts";
import { seen } from "../../state/overview-poll.ts";
import { useServerNow } from "../../state/server-time.ts";
import { type AlarmGroup, groupedAlarms, type HeldAlarm, heldAlarms } from "./held-alarms.ts";

/** What wakes somebody; the rest waits for the morning. */
const pages = ["commits_lost", "shard_down", "store_full", "disk_low", "items_damaged"];
const heightKey = "holdfast.console.alarms";

export function Alarms(): ReactNode {
  const { overview } = useObserved(seen);
  const [first, setFirst] = useState<readonly OverviewAlarm[] | null>(null);
  const now = overview?.alarms ?? null;
  if (first === null && now !== null) setFirst(now);
  const { rows, added } = heldAlarms(first ?? [], now ?? []);
  const [isAll, setAll] = useState(false);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const groups = groupedAlarms(rows, open);
  const shownMax = useIsPhone() ? 3 : 6;
  // One more is no longer than the words that there is one.
  const shown = isAll || groups.length <= shownMax + 1 ? groups : groups.slice(0, shownMax);
  const hiddenCount = rows.length - alarmsIn(shown).length;
  const place = useKeptHeight({ first, shown, count: now?.length ?? 0, hold: setFirst });
  return (
    <section className="alarms" aria-label="Alarms" ref={place}>
      <h2 className="vh">
        {now === null ? "Alarms" : now.length === 1 ? "1 alarm" : `${now.length} alarms`}
      </h2>
      {first !== null && rows.length === 0 && added.length === 0 && (
        <Empty glyph="flows">Nothing is wrong.</Empty>
      )}
      {rows.length > 0 && (
        <ol>
          {shown.map(({ key, rows: [row, ...others] }) =>
            row === undefined || others.length > 0 ? (
              <GroupRow
                key={key}
                rows={row === undefined ? [] : [row, ...others]}
                onOpen={() => setOpen(new Set([...open, key]))}
              />
            ) : (
              <AlarmRow key={key} row={row} />
            ),
          )}
        </ol>
      )}
      {hiddenCount > 0 && (
        <p className="more-alarms">
          <Button look="link" onClick={() => setAll(true)}>
            and {hiddenCount} more
          </Button>
        </p>
      )}
      {added.length > 0 && (
        <Added alarms={added} onShow={() => setFirst(now)} isAlone={rows.length === 0} />
      )}
    </section>
  );
}

function alarmsIn(groups: readonly AlarmGroup[]): readonly OverviewAlarm[] {
  return groups.flatMap(({ rows }) => rows.map(({ alarm }) => alarm));
}

interface Held {
  /** As they stand in the list. */
  readonly shown: readonly AlarmGroup[];
  readonly first: readonly OverviewAlarm[] | null;
  /** Of those that there are now. */
  readonly count: number;
  readonly hold: (fitting: readonly OverviewAlarm[]) => void;
}

/**
 * The next load leaves so much room before it knows what stands there. What it then has no room for
 * is counted as new.
 */
function useKeptHeight({ first, shown, count, hold }: Held) {
  const place = useRef<HTMLElement>(null);
  const room = useRef(Number.POSITIVE_INFINITY);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    if (first === null) {
      const isKept = document.documentElement.style.getPropertyValue("--alarms") !== "";
      if (isKept) room.current = element.offsetHeight;
      return;
    }
    if (first.length === count) keepHeight(element.offsetHeight);
    const rows = [...element.querySelectorAll("li")];
    const at = rows.findIndex((row) => row.offsetTop + row.offsetHeight > room.current);
    room.current = Number.POSITIVE_INFINITY;
    if (at !== -1) hold(alarmsIn(shown.slice(0, at)));
  }, [first]);
  return place;
}

function keepHeight(height: number): void {
  try {
    localStorage.setItem(heightKey, String(height));
  } catch {
    // Then each load is the first.
  }
}

interface AddedProps {
  readonly alarms: readonly OverviewAlarm[];
  readonly isAlone: boolean;
  readonly onShow: () => void;
}

/** Over the last row, or in the place of the words that nothing is wrong: no row is added. */
function Added({ alarms, isAlone, onShow }: AddedProps): ReactNode {
  return (
    <p className={isAlone ? "calm" : "added"} role="status">
      {isAlone && <StateGlyph name={glyphOf(alarms[0])} />}
      {isAlone && <span className="cut grow">{alarms[0]?.text}</span>}
      <Button look="small" onClick={onShow}>
        +{alarms.length} new
      </Button>
    </p>
  );
}

function glyphOf(alarm: OverviewAlarm | undefined): GlyphName {
  if (alarm?.what === "disk_low") return "full";
  if (/^(?:items|commits)_/.test(alarm?.what ?? "")) return "dead";
  return wordOf(alarm?.what ?? "").glyph;
}

function AlarmRow({ row: { alarm, isOver } }: { readonly row: HeldAlarm }): ReactNode {
  const { what, queue_name: name, shard, since, text } = alarm;
  const severity = pages.includes(what) ? "page" : "ticket";
  const now = useServerNow();
  const subject = name !== "" ? name : shard >= 0 ? `shard ${shard}` : "this server";
  // It names the queue whose items die, not the one where they are.
  const ofQueue =
    what === "dead_items" ? itemsAddress(name, { state: "dead" }) : queueAddress(name);
  const to = name === "" ? "/shards" : ofQueue;
  return (
    <li className="alarm" data-sev={severity} data-over={isOver || undefined}>
      <StateGlyph name={glyphOf(alarm)} />
      <span className="sev">{isOver ? "over" : severity}</span>
      <Link className="name cut" to={to}>
        <bdi>{subject}</bdi>
      </Link>
      <p className="cut" title={text}>
        {unturned(text)}
      </p>
      <span className="since">
        {isOver ? "over" : since !== null && `for ${spanText(now - Date.parse(since))}`}
      </span>
      <Link className="link" to={to} aria-label={`Why: ${subject}`}>
        Why
      </Link>
    </li>
  );
}

interface GroupRowProps {
  readonly rows: readonly HeldAlarm[];
  readonly onOpen: () => void;
}

/** Queues with the same cause; those for which it is over are not counted. */
function GroupRow({ rows, onOpen }: GroupRowProps): ReactNode {
  const now = useServerNow();
  const alarms = rows.filter(({ isOver }) => !isOver).map(({ alarm }) => alarm);
  const isOver = alarms.length === 0;
  const first = rows[0]?.alarm;
  const count = alarms.reduce((sum, alarm) => sum + alarm.count, 0);
  const sinceMs = Math.min(
    ...alarms.map(({ since }) => (since === null ? now : Date.parse(since))),
  );
  const names = alarms.map(({ queue_name: name }) => name).join(", ");
  return (
    <li className="alarm" data-sev="ticket" data-over={isOver || undefined}>
      <StateGlyph name={glyphOf(first)} />
      <span className="sev">{isOver ? "over" : "ticket"}</span>
      <button type="button" className="name cut" onClick={onOpen}>
        {many(isOver ? rows.length : alarms.length, "queue", "queues")}
      </button>
      <p className="cut" title={names}>
        {wordOf(first?.what ?? "").text}
        {!isOver && `, ${itemsText(count)}: ${unturned(names)}`}
      </p>
      <span className="since">{isOver ? "over" : `for ${spanText(now - sinceMs)}`}</span>
      <Button
        look="link"
        onClick={onOpen}
        aria-label={`Show queues: ${wordOf(first?.what ?? "").text}`}
      >
        Show
      </Button>
    </li>
  );
}
