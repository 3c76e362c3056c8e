// Converts filters of items.

import type { Filter, SummaryField } from "../../engine/model/filter.ts";
import type * as wire from "../../openapi/schemas.ts";
import { given, instantNamed, instantText, isGiven, wordOf } from "./fields.ts";

export function filterOf(filter: wire.ItemFilter | null | undefined): Filter {
  if (!isGiven(filter)) return {};
  const { kind, reference, reason, group, any_of } = filter;
  return given<Filter>({
    ...{ kind, reference, reason, group },
    originId: filter.origin_id,
    originQueue: filter.origin_queue,
    createdBefore: instantNamed(filter.created_before, "created_before"),
    death: filter.death ? wordOf(filter.death, "death", deaths) : null,
    attemptsMin: filter.attempts_min,
    redrivenMax: filter.redriven_max,
    payloadContains: filter.payload_contains || null,
    anyOf: any_of && { by: summaryFieldOf(any_of.by), values: any_of.values },
  });
}

const summaryFields = {
  reason: "reason",
  death: "death",
  kind: "kind",
  origin_queue: "originQueue",
  group: "group",
} as const satisfies Record<string, SummaryField>;

const summaryFieldNames = Object.keys(summaryFields) as (keyof typeof summaryFields)[];

export function summaryFieldOf(by: string): SummaryField {
  return summaryFields[wordOf(by, "by", summaryFieldNames)];
}

function summaryFieldText(by: SummaryField): string {
  return summaryFieldNames.find((name) => summaryFields[name] === by) ?? by;
}

export const deaths = ["failed", "expired", "rejected"] as const;

export function filterText(filter: Filter): wire.ItemFilter {
  const { kind, reference, death, reason, group, createdBefore, anyOf } = filter;
  return given<wire.ItemFilter>({
    ...{ kind, reference, death, reason, group },
    origin_id: filter.originId,
    origin_queue: filter.originQueue,
    attempts_min: filter.attemptsMin,
    created_before: createdBefore === undefined ? null : instantText(createdBefore),
    redriven_max: filter.redrivenMax,
    payload_contains: filter.payloadContains,
    any_of: anyOf && { by: summaryFieldText(anyOf.by), values: [...anyOf.values] },
  });
}
