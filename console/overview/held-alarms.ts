// Alarms hold still: one that is over stays, struck, and one that is new is counted in the last
// row, until they are shown anew.

import type { OverviewAlarm } from "../../openapi/schemas.ts";

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
