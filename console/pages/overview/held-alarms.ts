// Alarms hold still: one that is over stays, struck, and one that is new is counted in the last
// row, until they are shown anew.

import type { OverviewAlarm } from "../../../openapi/schemas.ts";

export interface HeldAlarm {
  readonly key: string;
  readonly alarm: OverviewAlarm;
  readonly isOver: boolean;
}

export interface HeldAlarms {
  readonly rows: readonly HeldAlarm[];
  readonly added: readonly OverviewAlarm[];
}

export function keyOf({ what, queue_name: name, shard }: OverviewAlarm): string {
  return `${what} ${shard} ${name}`;
}

export function heldAlarms(
  first: readonly OverviewAlarm[],
  now: readonly OverviewAlarm[],
): HeldAlarms {
  const byKey = new Map(now.map((alarm) => [keyOf(alarm), alarm]));
  const held = new Set(first.map(keyOf));
  return {
    rows: first.map((alarm) => {
      const key = keyOf(alarm);
      const present = byKey.get(key);
      return { key, alarm: present ?? alarm, isOver: present === undefined };
    }),
    added: now.filter((alarm) => !held.has(keyOf(alarm))),
  };
}

/** One row of the list: a single alarm, or those of queues that have the same cause. */
export interface AlarmGroup {
  readonly key: string;
  readonly rows: readonly HeldAlarm[];
}

/** Fewer are read as quickly one by one. */
const togetherMin = 3;

/** In the place of its first stands a whole group. `open`: causes whose alarms stand by themselves. */
export function groupedAlarms(
  rows: readonly HeldAlarm[],
  open: ReadonlySet<string>,
): readonly AlarmGroup[] {
  const byCause = Map.groupBy(rows, ({ alarm }) => (alarm.queue_name === "" ? "" : alarm.what));
  const isTogether = (cause: string) =>
    cause !== "" && !open.has(cause) && (byCause.get(cause)?.length ?? 0) >= togetherMin;
  return rows.flatMap((row): AlarmGroup[] => {
    const cause = row.alarm.queue_name === "" ? "" : row.alarm.what;
    if (!isTogether(cause)) return [{ key: row.key, rows: [row] }];
    const all = byCause.get(cause) ?? [];
    return all[0] === row ? [{ key: cause, rows: all }] : [];
  });
}
