// The state of a group in words. Pure.

import type { GroupInfo, QueueInfo } from "../../../openapi/schemas.ts";
import type { GlyphName } from "../../components/glyph/glyph-paths.ts";
import { countText } from "../../format.ts";
import type { Tone } from "../../state/health.ts";
import type { StoredState } from "../items/source.ts";

export interface GroupState {
  /** Before the item or the countdown, if there is one. */
  readonly text: string;
  readonly glyph: GlyphName;
  readonly tone: Tone;
  /** The item that blocks it; `""` = none, or several. */
  readonly item: string;
  /** When it opens by itself; `null` = unknown. */
  readonly opensAt: number | null;
}

export type GroupLimits = Pick<QueueInfo, "group_leased_max" | "group_rate">;

export function stateOf(info: GroupInfo, queue: GroupLimits): GroupState {
  const { blocked_id: item, next_at: next } = info;
  const opensAt = next === null ? null : Date.parse(next);
  return { ...wordsOf(info, queue), item, opensAt };
}

function wordsOf(info: GroupInfo, queue: GroupLimits): Omit<GroupState, "item" | "opensAt"> {
  const { blocked_by: by, blocked_id: item, waiting, paused } = info;
  switch (by) {
    case "":
      if (paused) return { text: "paused", glyph: "paused", tone: "info" };
      if (waiting > 0) return { text: "open", glyph: "flows", tone: "ok" };
      return { text: "nothing is ready", glyph: "idle", tone: "ok" };
    case "paused":
      return { text: "paused", glyph: "paused", tone: "info" };
    case "dead":
      return { text: "closed by the dead letter", glyph: "dead", tone: "bad" };
    case "retry": {
      const text = `waits for an item that came back${item === "" ? "" : ":"}`;
      return { text, glyph: "retry", tone: "warn" };
    }
    case "leased_max": {
      const limit = countText(info.leased_max || queue.group_leased_max);
      const text = `its limit of ${limit} is reached${item === "" ? "" : " by item"}`;
      return { text, glyph: "max", tone: "ok" };
    }
    case "rate": {
      const rate = info.rate || queue.group_rate;
      const text = `its rate of ${rate} is reached${info.next_at === null ? "" : "; opens in"}`;
      return { text, glyph: "age", tone: "ok" };
    }
    default:
      return { text: by.replaceAll("_", " "), glyph: "note", tone: "info" };
  }
}

/** The items that its name leads to. */
export function mainState({ waiting, leased, scheduled, retried }: GroupInfo): StoredState {
  if (waiting > 0) return "ready";
  if (leased > 0) return "leased";
  return scheduled + retried > 0 ? "scheduled" : "ready";
}

/** What it has of its own; `""` = nothing. */
export function ownText({ leased_max: leased, rate, weight }: GroupInfo): string {
  return [
    ...(leased === 0 ? [] : [`at most ${countText(leased)}`]),
    ...(rate === "" ? [] : [rate]),
    ...(weight === 1 ? [] : [`weight ${weight}`]),
  ].join(", ");
}

/** Rows keep their places while they are `held`; the name alone: it is not in the list now. */
export function rowsOf(
  groups: readonly GroupInfo[],
  held: readonly string[] | null,
): readonly (GroupInfo | string)[] {
  if (held === null) return groups;
  const found = new Map(groups.map((info) => [info.group, info]));
  return held.map((name) => found.get(name) ?? name);
}
