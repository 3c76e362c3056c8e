// The filter line: what can be asked of items, how it is typed, and what the server is told. Pure.

import type { ItemFilter } from "../../../openapi/schemas.ts";

interface Field {
  readonly label: string;
  readonly sign: string;
  readonly hint: string;
  /** Where it is not a text as it is: the value to keep, or `null` where it is none. */
  readonly read?: (text: string, nowMs: number) => string | null;
  readonly expects?: string;
}

const fields = {
  kind: { label: "kind", sign: "=", hint: "order-placed" },
  reference: { label: "reference", sign: "=", hint: "account-4711" },
  attempts: { label: "attempts", sign: "≥", hint: "2", read: count, expects: "a number" },
  before: {
    label: "produced before",
    sign: "",
    hint: "2h",
    read: instant,
    expects: "a time such as 2026-03-01T12:00Z, or an age such as 2h",
  },
  holder: { label: "holder", sign: "=", hint: "worker-3" },
  partition: { label: "partition", sign: "=", hint: "0", read: count, expects: "a number" },
  reason: { label: "reason", sign: "=", hint: "card_declined" },
  contains: { label: "contains", sign: "", hint: "4711" },
  origin: { label: "first id", sign: "=", hint: "27 characters" },
  from: { label: "came from", sign: "=", hint: "orders" },
  redriven: { label: "redriven", sign: "≤", hint: "0", read: count, expects: "a number" },
  death: { label: "death", sign: "=", hint: "failed, expired or rejected" },
} as const satisfies Record<string, Field>;

export type FieldId = keyof typeof fields;
export const fieldIds = Object.keys(fields) as readonly FieldId[];

export function fieldOf(id: FieldId): Field {
  return fields[id];
}

export interface Condition {
  readonly id: FieldId;
  /** `""`: it is not set. */
  readonly value: string;
  /** Values that match as well. */
  readonly others?: readonly string[];
}

/** Of one of these an address may name several values, as a filter takes several groups. */
const groupedBy: Partial<Record<FieldId, string>> = {
  reason: "reason",
  kind: "kind",
  from: "origin_queue",
  death: "death",
};

export function conditionsIn(query: URLSearchParams): readonly Condition[] {
  const several = fieldIds.find((id) => id in groupedBy && query.getAll(id).length > 1);
  return fieldIds.flatMap((id) => {
    const [value, ...others] = query.getAll(id);
    return value === undefined ? [] : [{ id, value, ...(id === several && { others }) }];
  });
}

export type Typed =
  | { readonly what: "item"; readonly id: string }
  | { readonly what: "condition"; readonly condition: Condition }
  | { readonly what: "fault"; readonly text: string };

const itemId = /^[0-9A-Za-z]{27}$/;
const named = /^([a-z]+)\s*(?:[<>]=|[≥≤=<:])\s*(.*)$/s;

/** An id alone is an item to be opened; a text without a name is looked for in payloads. */
export function readTyped(text: string, nowMs: number): Typed {
  const trimmed = text.trim();
  if (itemId.test(trimmed)) return { what: "item", id: trimmed };
  const [, name = "", said = ""] = named.exec(trimmed) ?? [];
  const id = fieldIds.find((one) => one === name) ?? "contains";
  const raw = name === id ? said : trimmed;
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

export interface Asked {
  readonly filter: ItemFilter;
  /** The client that holds them; absent = whoever does. */
  readonly holder?: string;
  /** Absent = all. */
  readonly partition?: number;
}

export function askedBy(conditions: readonly Condition[]): Asked {
  const several = conditions.find(({ others }) => others !== undefined);
  const value = (id: FieldId) => conditions.find((one) => one.id === id && one !== several)?.value;
  const attempts = value("attempts");
  const redriven = value("redriven");
  const holder = value("holder");
  const partition = value("partition");
  const filter = {
    kind: value("kind"),
    reference: value("reference"),
    attempts_min: attempts === undefined ? undefined : Number(attempts),
    created_before: value("before"),
    reason: value("reason"),
    payload_contains: value("contains"),
    origin_id: value("origin"),
    origin_queue: value("from"),
    death: value("death"),
    redriven_max: redriven === undefined ? undefined : Number(redriven),
    groups: several && {
      by: groupedBy[several.id],
      values: [several.value, ...(several.others ?? [])],
    },
  };
  const said = Object.entries(filter).filter(([, one]) => one !== undefined);
  return {
    filter: Object.fromEntries(said),
    ...(holder !== undefined && { holder }),
    ...(partition !== undefined && { partition: Number(partition) }),
  };
}

/** A field that the contract adds does not compile until it is named here. */
const fieldIdOf: Readonly<Record<Exclude<keyof ItemFilter, "groups">, FieldId>> = {
  kind: "kind",
  reference: "reference",
  attempts_min: "attempts",
  created_before: "before",
  reason: "reason",
  payload_contains: "contains",
  origin_id: "origin",
  origin_queue: "from",
  death: "death",
  redriven_max: "redriven",
};

/** What a filter of the server asks, in the words of the filter line. */
export function filterText({ groups, ...rest }: ItemFilter): string {
  const single = Object.entries(rest).map(([name, value]) =>
    conditionText(fieldIdOf[name as keyof typeof rest], [value]),
  );
  if (groups === undefined || groups === null) return single.join(", ");
  const by = fieldIds.find((id) => groupedBy[id] === groups.by) ?? "reason";
  return [...single, conditionText(by, groups.values)].join(", ");
}

function conditionText(id: FieldId, values: readonly (string | number | null)[]): string {
  const { label, sign } = fields[id];
  const words = values.map((value) => (value === "" || value === null ? "none" : String(value)));
  return [label, sign, words.join(" or ")].filter((part) => part !== "").join(" ");
}
