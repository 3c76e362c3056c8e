// The settings of a group as they are typed, and the call that changes the edited ones only. Pure.

import type { RequestOf } from "../../../openapi/operations.ts";
import type { GroupInfo } from "../../../openapi/schemas.ts";

/** `""` = as the queue has it. */
export interface GroupDraft {
  readonly leasedMax: string;
  readonly rate: string;
  readonly weight: string;
  readonly isPaused: boolean;
}

export function draftOf({ leased_max: leased, rate, weight, paused }: GroupInfo): GroupDraft {
  const leasedMax = leased === 0 ? "" : String(leased);
  return { leasedMax, rate, weight: String(weight), isPaused: paused };
}

export type GroupChanges = Omit<RequestOf<"setGroup">, "queue_name" | "group" | "unblock">;

export function changesOf(info: GroupInfo, draft: GroupDraft): GroupChanges {
  const leased_max = Number(draft.leasedMax);
  const rate = draft.rate.trim();
  const weight = Number(draft.weight);
  return {
    ...(leased_max !== info.leased_max && { leased_max }),
    ...(rate !== info.rate && { rate }),
    ...(weight !== info.weight && { weight }),
    ...(draft.isPaused !== info.paused && { paused: draft.isPaused }),
  };
}

/** For the result of the change. */
export function changesText({ leased_max, rate, weight, paused }: GroupChanges): string {
  const orQueue = (value: string | number) => value || "as the queue has it";
  return [
    ...(leased_max === undefined ? [] : [`leased_max ${orQueue(leased_max)}`]),
    ...(rate === undefined ? [] : [`rate ${orQueue(rate)}`]),
    ...(weight === undefined ? [] : [`weight ${weight}`]),
    ...(paused === undefined ? [] : [paused ? "paused" : "resumed"]),
  ].join(", ");
}

export const noItems = {
  ...{ waiting: 0, leased: 0, scheduled: 0, retried: 0, oldest_at: null },
  ...{ blocked_by: "", blocked_id: "", next_at: null },
  ...{ leased_max: 0, rate: "", weight: 1, paused: false },
} satisfies Omit<GroupInfo, "group">;
