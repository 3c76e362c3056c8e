// Matches items by their properties. A filter examines each item as it is stored and needs no
// index.

import type { Item } from "../../stores/item.ts";
import { type Past, readPast } from "./provenance.ts";

export const summaryFields = ["reason", "death", "kind", "originQueue", "group"] as const;
export type SummaryField = (typeof summaryFields)[number];

/** Matches items that have any of several values of one field. */
export interface AnyOf {
  readonly by: SummaryField;
  /** Results of `summaryValueOf`; a reason stands for its class. */
  readonly values: readonly string[];
}

/** The items that have one value of a field. */
export interface ItemSummary {
  readonly value: string;
  readonly count: number;
  /** When the first and the last of them entered the queue. */
  readonly firstAt: number;
  readonly lastAt: number;
  readonly sampleId: string;
}

/** All properties have to match; absent ones match every item. */
export interface Filter {
  readonly kind?: string;
  readonly reference?: string;
  readonly originId?: string;
  readonly originQueue?: string;
  readonly death?: NonNullable<Past["death"]>;
  /** Compared by `reasonClass`: without numbers and ids, but with three-digit codes. */
  readonly reason?: string;
  /** For a dead item: the attempts in the queue where it died. */
  readonly attemptsMin?: number;
  /** For a dead item: when it was produced. */
  readonly createdBefore?: number;
  /** The most times that it was sent back from a dead queue. */
  readonly redrivenMax?: number;
  /** UTF-8 text that the payload contains. */
  readonly payloadContains?: string;
  readonly anyOf?: AnyOf;
  /** `""` = the group without a name. */
  readonly group?: string;
}

export type FilteredItem = Pick<
  Item,
  "kind" | "reference" | "attempts" | "createdAt" | "past" | "payload"
>;

/** `id`: the present one. `isLeased`: its current lease is not in the stored attempts. */
export type Matcher = (item: FilteredItem, id: string, isLeased: boolean) => boolean;

export function matcherOf(filter: Filter): Matcher {
  const { kind, reference, payloadContains, anyOf } = filter;
  const reason = filter.reason === undefined ? undefined : reasonClass(filter.reason);
  const needle = payloadContains === undefined ? null : Buffer.from(payloadContains);
  const values =
    anyOf && new Set(anyOf.by === "reason" ? anyOf.values.map(reasonClass) : anyOf.values);
  return (item, id, isLeased) => {
    if (kind !== undefined && item.kind !== kind) return false;
    if (reference !== undefined && item.reference !== reference) return false;
    const past = readPast(item.past);
    return (
      is(filter.originId, past.origin ?? id) &&
      is(filter.originQueue, past.queue) &&
      is(filter.death, past.death) &&
      is(filter.group, past.group) &&
      (reason === undefined || reasonClass(past.reason ?? "") === reason) &&
      (past.attempts ?? item.attempts + Number(isLeased)) >= (filter.attemptsMin ?? 0) &&
      (past.createdAt ?? item.createdAt) < (filter.createdBefore ?? Number.POSITIVE_INFINITY) &&
      (past.redriven ?? 0) <= (filter.redrivenMax ?? Number.POSITIVE_INFINITY) &&
      (anyOf === undefined || values?.has(summaryValueOf(item, anyOf.by)) === true) &&
      (needle === null || Buffer.from(item.payload as Uint8Array).includes(needle))
    );
  };
}

/** The value of the field by which items are summarized. */
export function summaryValueOf(
  { kind, past }: Pick<Item, "kind" | "past">,
  by: SummaryField,
): string {
  const { reason = "", death = "", queue = "", group = "" } = readPast(past);
  switch (by) {
    case "reason":
      return reasonClass(reason);
    case "death":
      return death;
    case "kind":
      return kind;
    case "originQueue":
      return queue;
    case "group":
      return group;
  }
}

function is(wanted: string | undefined, found: string | undefined): boolean {
  return wanted === undefined || wanted === (found ?? "");
}

const uuid = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
const word = /\w[\w-]*/g;
const hexadecimal = /\b[0-9a-f]{8,}\b/gi;
const digit = /\d/;
const tokenLength = 16;
const instant = /\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}[\d:.]*(?:Z|[+-]\d{2}:?\d{2})?)?/g;
/** The first group is a code of a reply or a process, which distinguishes reasons. */
const number =
  /((?:^(?=[1-5])|\b(?:http(?:\/\d(?:\.\d)?)?(?:[ _-]?error)?|(?:status[ _-]?)?code|status)[\s:=]{1,3})\d{3}(?!\d|[.,:]\d))|\d+(?:[.,:]\d+)*/gi;
/** Characters that are invisible in a line of text, or end it. */
const blank = /[\s\p{Cc}\p{Bidi_Control}]+/gu;

/**
 * A reason without the parts that differ between items: ids and numbers. Codes of three digits stay
 * if they begin the reason or follow `HTTP`, `status` or `code`. The result is one line, so that it
 * can be copied from the screen.
 */
export function reasonClass(reason: string): string {
  return reason
    .replace(blank, " ")
    .trim()
    .replace(uuid, "<id>")
    .replace(instant, "<time>")
    .replace(word, tokenless)
    .replace(number, (_, code: string | undefined) => code ?? "<n>");
}

/** Ids have digits, and are long or hexadecimal. No single pattern matches this in linear time. */
function tokenless(found: string): string {
  if (!digit.test(found)) return found;
  if (found.length >= tokenLength) return "<id>";
  return found.replace(hexadecimal, (piece) => (digit.test(piece) ? "<id>" : piece));
}
