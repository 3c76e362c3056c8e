// The filter line: its conditions, how they are typed, and the request they make. Pure.

import type { ItemFilter } from "../../../openapi/schemas.ts";

interface Field {
  readonly label: string;
  readonly sign: string;
  readonly hint: string;
  /** Its name in a filter; absent: it is a part of the request beside the filter. */
  readonly filter?: Exclude<keyof ItemFilter, "any_of">;
  /** Its name in `any_of`, which takes several values of one field. */
  readonly severalBy?: string;
  /** The value of a typed text that is not taken as it is; `null`: a fault. */
  readonly read?: (text: string, nowMs: number) => string | null;
  readonly expects?: string;
}

const aCount = { read: count, expects: "a number" };

const fields = {
  kind: { label: "kind", sign: "=", hint: "order-placed", filter: "kind", severalBy: "kind" },
  reference: { label: "reference", sign: "=", hint: "account-4711", filter: "reference" },
  group: {
    label: "group",
    sign: "=",
    hint: "customer-17",
    filter: "group",
    severalBy: "group",
  },
  attempts: { label: "attempts", sign: "≥", hint: "2", filter: "attempts_min", ...aCount },
  before: {
    label: "produced before",
    sign: "",
    hint: "2h",
    filter: "created_before",
    read: instant,
    expects: "a time such as 2026-03-01T12:00Z, or an age such as 2h",
  },
  holder: { label: "holder", sign: "=", hint: "worker-3" },
  partition: { label: "partition", sign: "=", hint: "0", ...aCount },
  reason: {
    label: "reason",
    sign: "=",
    hint: "card_declined",
    filter: "reason",
    severalBy: "reason",
  },
  contains: { label: "contains", sign: "", hint: "4711", filter: "payload_contains" },
  origin: { label: "first id", sign: "=", hint: "27 characters", filter: "origin_id" },
  from: {
    label: "came from",
    sign: "=",
    hint: "orders",
    filter: "origin_queue",
    severalBy: "origin_queue",
  },
  redriven: { label: "redriven", sign: "≤", hint: "0", filter: "redriven_max", ...aCount },
  death: {
    label: "death",
    sign: "=",
    hint: "failed, expired or rejected",
    filter: "death",
    severalBy: "death",
  },
} as const satisfies Record<string, Field>;

export type FieldId = keyof typeof fields;
export const fieldIds = Object.keys(fields) as readonly FieldId[];

export function fieldOf(id: FieldId): Field {
  return fields[id];
}

export interface Condition {
  readonly id: FieldId;
  /** `""`: the item has none. */
  readonly value: string;
  /** Values that match as well. */
  readonly others?: readonly string[];
}

export function conditionsIn(query: URLSearchParams): readonly Condition[] {
  // A filter takes several values of one field.
  const several = fieldIds.find((id) => fieldOf(id).severalBy && query.getAll(id).length > 1);
  return fieldIds.flatMap((id) => {
    const [value, ...others] = query.getAll(id);
    return value === undefined ? [] : [{ id, value, ...(id === several && { others }) }];
  });
}

export type TypedFilter =
  | { readonly what: "item"; readonly id: string }
  | { readonly what: "condition"; readonly condition: Condition }
  | { readonly what: "fault"; readonly text: string };

const itemId = /^[0-9A-Za-z]{27}$/;
const named = /^([a-z]+)\s*(?:[<>]=|[≥≤=<:])\s*(.*)$/s;

/** An id alone opens its item; a text without a name is searched for in payloads. */
export function readTyped(text: string, nowMs: number): TypedFilter {
  const trimmed = text.trim();
  if (itemId.test(trimmed)) return { what: "item", id: trimmed };
  const [, name = "", rest = ""] = named.exec(trimmed) ?? [];
  const id = fieldIds.find((one) => one === name) ?? "contains";
  const raw = name === id ? rest : trimmed;
  const { read, expects = "", label }: Field = fields[id];
  const value = read === undefined ? raw : read(raw, nowMs);
  if (value !== null) return { what: "condition", condition: { id, value } };
  return { what: "fault", text: `${label} takes ${expects}` };
}

function count(text: string): string | null {
  return /^\d{1,6}$/.test(text) ? text : null;
}

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function instant(text: string, nowMs: number): string | null {
  const [, number, unit] = /^(\d{1,5}) ?([smhd])$/.exec(text) ?? [];
  const at =
    unit === undefined
      ? Date.parse(text)
      : nowMs - Number(number) * unitMs[unit as keyof typeof unitMs];
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

export interface ConditionRequest {
  readonly filter: ItemFilter;
  /** Absent = any client. */
  readonly holder?: string;
  /** Absent = all. */
  readonly partition?: number;
}

export function requestedBy(conditions: readonly Condition[]): ConditionRequest {
  const filter: Record<string, unknown> = {};
  const beside: { holder?: string; partition?: number } = {};
  for (const { id, value, others } of conditions) {
    const { filter: name, severalBy, read } = fieldOf(id);
    if (others !== undefined) filter["any_of"] = { by: severalBy, values: [value, ...others] };
    else if (name !== undefined) filter[name] = read === count ? Number(value) : value;
    else if (id === "holder") beside.holder = value;
    else beside.partition = Number(value);
  }
  return { filter, ...beside };
}

/** A filter in the words of the filter line. */
export function filterText({ any_of: anyOf, ...rest }: ItemFilter): string {
  const texts = Object.entries(rest).map(([name, value]) =>
    conditionText(({ filter }) => filter === name, [value]),
  );
  if (anyOf) {
    texts.push(conditionText(({ severalBy }) => severalBy === anyOf.by, anyOf.values));
  }
  return texts.join(", ");
}

function conditionText(
  isField: (field: Field) => boolean,
  values: readonly (string | number | null)[],
): string {
  const { label = "", sign = "" } = Object.values<Field>(fields).find(isField) ?? {};
  const words = values.map((value) => (value === "" || value === null ? "none" : String(value)));
  return [label, sign, words.join(" or ")].filter((part) => part !== "").join(" ");
}
