// Converts groups, their list and their settings.

import type * as engine from "../../engine/model/api.ts";
import type { RequestOf } from "../../openapi/operations.ts";
import type * as wire from "../../openapi/schemas.ts";
import { given, instantTextOrNull } from "./fields.ts";

export function groupsPage(body: RequestOf<"listGroups">): engine.GroupListRequest {
  const { queue_name: queue, pivot, limit, blocked } = body;
  return { queue, pivot: pivot ?? "", limit: limit ?? groupsDefault, blocked: blocked === true };
}

const groupsDefault = 100;

/** Absent keys leave their settings unchanged. */
export function groupChange(body: RequestOf<"setGroup">): engine.GroupChange {
  return given<engine.GroupChange>({
    queue: body.queue_name,
    group: body.group,
    leasedMax: body.leased_max,
    rate: body.rate,
    weight: body.weight,
    paused: body.paused,
    unblock: body.unblock,
  });
}

export function groupInfo(info: engine.GroupInfo): wire.GroupInfo {
  const { group, waiting, leased, scheduled, retried, weight, paused } = info;
  return {
    ...{ group, waiting, leased, scheduled, retried },
    oldest_at: instantTextOrNull(info.oldestAt),
    blocked_by: info.blockedBy,
    blocked_id: info.blockedId,
    next_at: instantTextOrNull(info.nextAt),
    leased_max: info.leasedMax,
    rate: info.rate,
    ...{ weight, paused },
  };
}
