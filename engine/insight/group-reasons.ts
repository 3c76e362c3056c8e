// Why a ready item of a group is not leased yet, in sentences.

import type { GroupAhead } from "../model/messages.ts";

/** `left`: how long it is until an instant. */
export function groupReasons(ahead: GroupAhead, left: (ms: number) => string): string[] {
  const group = ahead.group === "" ? "the group without a name" : `group '${ahead.group}'`;
  const behind = `behind other items of ${group}, of which ${ahead.waiting} wait`;
  const place = ahead.isFirst ? `the next of ${group}` : behind;
  return [`It is ready, ${place}.`, ...blockReasons(ahead, left)];
}

function blockReasons(ahead: GroupAhead, left: (ms: number) => string): string[] {
  const { blockedBy, holder, deadId, nextAt } = ahead;
  const by = holder?.client ? `'${holder.client}'` : "a consumer";
  const held =
    holder === null
      ? ""
      : `: item ${holder.id} is leased by ${by}, and the lease ends ${left(holder.leaseDeadline)}`;
  switch (blockedBy) {
    case "":
      return [];
    case "paused":
      return ["Its group is paused."];
    case "dead":
      return [`Its group is closed by the dead letter ${deadId}, until it is opened by hand.`];
    case "retry":
      return [`Its group is closed until an item that came back is finished${held}.`];
    case "leased_max":
      return [`Its group has as many leased items as it may${held}.`];
    case "rate":
      return [`The rate of its group allows more ${nextAt === null ? "soon" : left(nextAt)}.`];
  }
}
