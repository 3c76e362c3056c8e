// I29: at rest, a list of groups counts what the queue lists, and says rightly what closes a group.

import type { GroupInfo } from "../model/api.ts";
import { isStrict } from "./group-order-rule.ts";
import type { GroupSettingsKnown } from "./group-settings-known.ts";
import type { QueueParameters } from "./parameters.ts";

/** An item as its queue lists it. */
export interface ListedInGroup {
  readonly group: string;
  readonly state: "waiting" | "leased" | "aside";
}

/** What is wrong with the list; `null` = nothing. */
export function checkGroups(
  groups: readonly GroupInfo[],
  listed: readonly ListedInGroup[],
  {
    place,
    settings,
    now,
    mayHaveDied,
  }: {
    readonly place: QueueParameters;
    readonly settings: GroupSettingsKnown;
    readonly now: number;
    /** Whether a dead letter may have closed the group. */
    readonly mayHaveDied: (group: string) => boolean;
  },
): string | null {
  const byGroup = Map.groupBy(listed, ({ group }) => group);
  for (const group of byGroup.keys()) {
    if (!groups.some((one) => one.group === group)) return `group ${group} is not listed`;
  }
  for (const info of groups) {
    const items = byGroup.get(info.group) ?? [];
    const count = (state: string): number => items.filter((one) => one.state === state).length;
    const { waiting, leased, scheduled, retried } = info;
    const reported = [waiting, leased, scheduled + retried].join();
    const found = [count("waiting"), count("leased"), count("aside")].join();
    if (reported !== found) return `group ${info.group} counts ${reported}, but has ${found}`;
    const wrong = wrongBlock(info, { place, settings, now, mayHaveDied });
    if (wrong !== null) return `group ${info.group} is blocked by '${info.blockedBy}', ${wrong}`;
  }
  return null;
}

/** What is wrong with the reason for which nothing of the group may be leased. */
function wrongBlock(
  { group, waiting, leased, retried, blockedBy }: GroupInfo,
  { place, settings, now, mayHaveDied }: Parameters<typeof checkGroups>[2],
): string | null {
  const { name } = place;
  if (waiting === 0) return blockedBy === "" ? null : "but nothing waits";
  const paused = settings.isClosed(name, group, "paused", now);
  if (paused !== "maybe" && (blockedBy === "paused") !== paused) return `paused: ${paused}`;
  if (blockedBy === "paused" || paused !== false) return null;
  const dead = settings.isClosed(name, group, "dead", now);
  if (blockedBy === "dead") {
    return dead === false && !mayHaveDied(group) ? "but no item of it died" : null;
  }
  if (dead === true) return "but a dead letter has closed it";
  const isBack = isStrict(place) && retried > 0;
  if (blockedBy === "retry") {
    return isStrict(place) && retried + leased > 0 ? null : "but none came back";
  }
  if (isBack) return "but an item came back";
  const { least, most } = settings.leasedMax(name, group, now);
  if (blockedBy === "leased_max") return leased >= least ? null : `but ${leased} are leased`;
  if (leased >= most) return `but ${leased} are leased`;
  const rates = settings.rates(name, group, now);
  if (blockedBy === "rate") return rates.some((rate) => rate !== "") ? null : "but has no rate";
  return null;
}
