// Converts filters of items.

import type * as engine from "../../engine/model/api.ts";
import type * as wire from "../../openapi/schemas.ts";
import { instantNamed, instantText, isGiven, wordOf } from "./fields.ts";

export function filterOf(filter: wire.ItemFilter | null | undefined): engine.Filter {
  if (!isGiven(filter)) return {};
  const { kind, reference, origin_id, origin_queue, death, reason } = filter;
  const { attempts_min, redriven_max, payload_contains, groups } = filter;
  const createdBefore = instantNamed(filter.created_before, "created_before");
  return {
    ...(isGiven(kind) && { kind }),
    ...(isGiven(reference) && { reference }),
    ...(isGiven(origin_id) && { originId: origin_id }),
    ...(isGiven(origin_queue) && { originQueue: origin_queue }),
    ...(death && { death: wordOf(death, "death", deaths) }),
    ...(isGiven(reason) && { reason }),
    ...(isGiven(attempts_min) && { attemptsMin: attempts_min }),
    ...(createdBefore !== null && { createdBefore }),
    ...(isGiven(redriven_max) && { redrivenMax: redriven_max }),
    ...(payload_contains && { payloadContains: payload_contains }),
    ...(isGiven(groups) && { groups: { by: groupingOf(groups.by), values: groups.values } }),
  };
}

const groupings = {
  reason: "reason",
  death: "death",
  kind: "kind",
  origin_queue: "originQueue",
} as const satisfies Record<string, engine.Grouping>;

const groupingNames = Object.keys(groupings) as (keyof typeof groupings)[];

export function groupingOf(by: string): engine.Grouping {
  return groupings[wordOf(by, "by", groupingNames)];
}

function groupingText(by: engine.Grouping): string {
  return groupingNames.find((name) => groupings[name] === by) ?? by;
}

export const deaths = ["failed", "expired", "rejected"] as const;

export function filterText(filter: engine.Filter): wire.ItemFilter {
  const { kind, reference, originId, originQueue, death, reason } = filter;
  const { attemptsMin, createdBefore, redrivenMax, payloadContains, groups } = filter;
  return {
    ...(kind !== undefined && { kind }),
    ...(reference !== undefined && { reference }),
    ...(originId !== undefined && { origin_id: originId }),
    ...(originQueue !== undefined && { origin_queue: originQueue }),
    ...(death !== undefined && { death }),
    ...(reason !== undefined && { reason }),
    ...(attemptsMin !== undefined && { attempts_min: attemptsMin }),
    ...(createdBefore !== undefined && { created_before: instantText(createdBefore) }),
    ...(redrivenMax !== undefined && { redriven_max: redrivenMax }),
    ...(payloadContains !== undefined && { payload_contains: payloadContains }),
    ...(groups !== undefined && {
      groups: { by: groupingText(groups.by), values: [...groups.values] },
    }),
  };
}
