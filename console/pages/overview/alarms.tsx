import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { Link } from "react-router";
import type { OverviewAlarm } from "../../../openapi/schemas.ts";
import { itemsAddress, queueAddress } from "../../addresses.ts";
import { Button } from "../../components/button.tsx";
import { Empty } from "../../components/empty.tsx";
import { StateGlyph } from "../../components/glyph/glyph.tsx";
import type { GlyphName } from "../../components/glyph/glyph-paths.ts";
import { useIsPhone } from "../../components/use-is-phone.ts";
import { itemsText, plural, spanText, withVisibleMarks } from "../../format.ts";
import { wordOf } from "../../state/health.ts";
import { useOverview } from "../../state/overview-poll.ts";
import { useServerNow } from "../../state/server-time.ts";

/** These wake the operator on call; the others can wait until the morning. */
const urgent = ["commits_lost", "shard_down", "store_full", "disk_low", "items_damaged"];

const none: readonly OverviewAlarm[] = [];

export function Alarms(): ReactNode {
  const overview = useOverview();
  const alarms = overview?.alarms ?? none;
  const [isAll, setAll] = useState(false);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const groups = groupedAlarms(alarms, open);
  const shownMax = useIsPhone() ? 3 : 6;
  // One more row takes no more space than the link to it.
  const wantedMax = isAll || groups.length <= shownMax + 1 ? groups.length : shownMax;
  const { section, rowsMax, hasLinkRow, minHeight } = useStableHeight({
    rowsMax: wantedMax,
    hasLinkRow: wantedMax < groups.length,
  });
  const shown = groups.slice(0, rowsMax);
  const hiddenCount = alarms.length - shown.reduce((sum, group) => sum + group.alarms.length, 0);
  return (
    <section className="alarms" aria-label="Alarms" ref={section} style={{ minHeight }}>
      <h2 className="vh">
        {overview === null ? "Alarms" : plural(alarms.length, "alarm", "alarms")}
      </h2>
      {overview !== null && alarms.length === 0 && <Empty glyph="flows">Nothing is wrong.</Empty>}
      {shown.length > 0 && (
        <ol>
          {shown.map(({ key, alarms: [alarm, ...others] }) =>
            alarm === undefined ? null : others.length === 0 ? (
              <AlarmRow key={key} alarm={alarm} />
            ) : (
              <GroupRow
                key={key}
                alarms={[alarm, ...others]}
                kind={alarm.kind}
                onOpen={() => setOpen(new Set([...open, key]))}
              />
            ),
          )}
        </ol>
      )}
      {hiddenCount > 0 && (
        <p className={hasLinkRow ? "more-alarms" : "more-alarms overlaid"}>
          <Button look="link" onClick={() => setAll(true)}>
            and {hiddenCount} more
          </Button>
        </p>
      )}
    </section>
  );
}

interface AlarmRows {
  readonly rowsMax: number;
  /** Below the rows there is one with the link to the others. */
  readonly hasLinkRow: boolean;
}

/**
 * While the reader has the pointer or the focus below the alarms, they keep their height: a new or an
 * ended alarm would move what is about to be clicked. A link over the border counts the new ones.
 */
function useStableHeight(wanted: AlarmRows) {
  const section = useRef<HTMLElement>(null);
  const drawn = useRef({ ...wanted, minHeight: 0 });
  const isUsedBelow = section.current?.matches(":has(~ :is(:hover, :focus-within))") ?? false;
  if (!isUsedBelow) drawn.current = { ...wanted, minHeight: 0 };
  const { rowsMax, hasLinkRow, minHeight } = drawn.current;
  useLayoutEffect(() => {
    if (!isUsedBelow) drawn.current.minHeight = section.current?.offsetHeight ?? 0;
  });
  // Without an alarm there is a row as well.
  return { section, rowsMax: Math.max(1, rowsMax), hasLinkRow, minHeight: minHeight || undefined };
}

function glyphOf(kind: string): GlyphName {
  if (kind === "disk_low") return "full";
  return /^(?:items|commits)_/.test(kind) ? "dead" : wordOf(kind).glyph;
}

function AlarmRow({ alarm }: { readonly alarm: OverviewAlarm }): ReactNode {
  const { kind, queue_name: name, shard, since, text } = alarm;
  const now = useServerNow();
  const subject = name !== "" ? name : shard >= 0 ? `shard ${shard}` : "this server";
  // The alarm names the queue whose items die, not the dead queue.
  const ofQueue =
    kind === "dead_items" ? itemsAddress(name, { state: "dead" }) : queueAddress(name);
  const to = name === "" ? "/shards" : ofQueue;
  return (
    <Row kind={kind} forMs={since === null ? null : now - Date.parse(since)} text={text}>
      <Link className="name cut" to={to}>
        <bdi>{subject}</bdi>
      </Link>
      <Link className="link" to={to} aria-label={`Why: ${subject}`}>
        Why
      </Link>
    </Row>
  );
}

interface GroupRowProps {
  readonly alarms: readonly OverviewAlarm[];
  readonly kind: string;
  readonly onOpen: () => void;
}

/** Queues with the same cause. */
function GroupRow({ alarms, kind, onOpen }: GroupRowProps): ReactNode {
  const now = useServerNow();
  const count = alarms.reduce((sum, alarm) => sum + alarm.count, 0);
  const since = alarms.map((alarm) => (alarm.since === null ? now : Date.parse(alarm.since)));
  const names = alarms.map(({ queue_name: name }) => name).join(", ");
  const cause = wordOf(kind).text;
  const text = `${cause}, ${itemsText(count)}: ${names}`;
  return (
    <Row kind={kind} forMs={now - Math.min(...since)} text={text}>
      <button type="button" className="name cut" onClick={onOpen}>
        {plural(alarms.length, "queue", "queues")}
      </button>
      <Button look="link" onClick={onOpen} aria-label={`Show queues: ${cause}`}>
        Show
      </Button>
    </Row>
  );
}

interface RowProps {
  readonly kind: string;
  readonly text: string;
  readonly forMs: number | null;
  /** Its name and its link. */
  readonly children: readonly [ReactNode, ReactNode];
}

function Row({ kind, text, forMs, children: [name, link] }: RowProps): ReactNode {
  const severity = urgent.includes(kind) ? "page" : "ticket";
  return (
    <li className="alarm" data-sev={severity}>
      <StateGlyph name={glyphOf(kind)} />
      <span className="sev">{severity}</span>
      {name}
      <p className="cut" title={text}>
        {withVisibleMarks(text)}
      </p>
      <span className="since">{forMs !== null && `for ${spanText(forMs)}`}</span>
      {link}
    </li>
  );
}

/** A single alarm, or those of several queues with one cause. */
export interface AlarmGroup {
  readonly key: string;
  readonly alarms: readonly OverviewAlarm[];
}

/** Fewer are as quick to read one by one. */
const groupMin = 3;

function causeOf({ kind, queue_name: name }: OverviewAlarm): string {
  return name === "" ? "" : kind;
}

/** A group takes the place of its first alarm. `open`: causes whose alarms have rows of their own. */
export function groupedAlarms(
  alarms: readonly OverviewAlarm[],
  open: ReadonlySet<string>,
): readonly AlarmGroup[] {
  const byCause = Map.groupBy(alarms, causeOf);
  return alarms.flatMap((alarm): AlarmGroup[] => {
    const cause = causeOf(alarm);
    const all = byCause.get(cause) ?? [];
    if (cause === "" || open.has(cause) || all.length < groupMin) {
      return [{ key: `${alarm.kind} ${alarm.shard} ${alarm.queue_name}`, alarms: [alarm] }];
    }
    return all[0] === alarm ? [{ key: cause, alarms: all }] : [];
  });
}
