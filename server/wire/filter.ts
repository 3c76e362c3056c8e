// Converts filters of items.

import type { Filter, Grouping } from "../../engine/model/filter.ts";
import type * as wire from "../../openapi/schemas.ts";
import { given, instantNamed, instantText, isGiven, wordOf } from "./fields.ts";

export function filterOf(filter: wire.ItemFilter | null | undefined): Filter {
  if (!isGiven(filter)) return {};
  const { kind, reference, reason, groups } = filter;
  return given<Filter>({
    ...{ kind, reference, reason },
    originId: filter.origin_id,
    originQueue: filter.origin_queue,
    createdBefore: instantNamed(filter.created_before, "created_before"),
    death: filter.death ? wordOf(filter.death, "death", deaths) : null,
    attemptsMin: filter.attempts_min,
    redrivenMax: filter.redriven_max,
    payloadContains: filter.payload_contains || null,
    groups: groups && { by: groupingOf(groups.by), values: groups.values },
  });
}

const groupings = {
  reason: "reason",
  death: "death",
  kind: "kind",
  origin_queue: "originQueue",
} as const satisfies Record<string, Grouping>;

const groupingNames = Object.keys(groupings) as (keyof typeof groupings)[];

export function groupingOf(by: string): Grouping {
  return groupings[wordOf(by, "by", groupingNames)];
}

function groupingText(by: Grouping): string {
  return groupingNames.find((name) => groupings[name] === by) ?? by;
}

export const deaths = ["failed", "expired", "rejected"] as const;

export function filterText(filter: Filter): wire.ItemFilter {
  const { kind, reference, death, reason, createdBefore, groups } = filter;
  return given<wire.ItemFilter>({
    ...{ kind, reference, death, reason },
    origin_id: filter.originId,
    origin_queue: filter.originQueue,
    attempts_min: filter.attemptsMin,
    created_before: createdBefore === undefined ? null : instantText(createdBefore),
    redriven_max: filter.redrivenMax,
    payload_contains: filter.payloadContains,
    groups: groups && { by: groupingText(groups.by), values: [...groups.values] },
  });
}
