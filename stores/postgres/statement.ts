// Builds one statement from parts. Values are passed as one array per column.

import type { SlotSeq, SlotSeqs } from "../store.ts";
import { byteaArray, int8Array } from "./arrays.ts";
import type { SqlValue } from "./connection.ts";

export interface Statement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export type Write = (value: (value: SqlValue) => string) => string;

/** Parts of one statement, with their parameters in order of use. */
export class Parts {
  readonly #values: SqlValue[] = [];
  readonly #texts: string[] = [];
  readonly #checks: string[] = [];

  add(name: string, write: Write): void {
    this.#texts.push(`${name} AS (${write((value) => `$${this.#values.push(value)}`)})`);
  }

  /** Adds a part that fails the statement unless `holds` is true in each of its rows. */
  check(name: string, write: Write): void {
    this.add(name, write);
    this.#checks.push(`(SELECT coalesce(sum(1 / holds::int), 0) FROM ${name}) >= 0`);
  }

  statement(): Statement {
    const checks = this.#checks.map((check) => ` AND ${check}`).join("");
    const text = `WITH ${this.#texts.join(",\n")}\nSELECT count(*) FROM fence WHERE true${checks}`;
    return { text, values: this.#values };
  }
}

export interface Column {
  readonly name: string;
  readonly type: "bigint" | "bytea";
  readonly value: Buffer;
}

export function numbers<T>(of: readonly T[], name: string, get: (one: T) => number | null): Column {
  return { name, type: "bigint", value: int8Array(of.map(get)) };
}

export function blobs<T>(
  of: readonly T[],
  name: string,
  get: (one: T) => Uint8Array | string | null,
): Column {
  return { name, type: "bytea", value: byteaArray(of.map(get)) };
}

/** The columns as a table. `number`: name of an additional column, the row's number from 1. */
export function table(
  name: string,
  columns: readonly Column[],
  value: (value: SqlValue) => string,
  number?: string,
): string {
  const arrays = columns.map((column) => `${value(column.value)}::${column.type}[]`);
  const names = columns.map((column) => column.name);
  const [ordinality, all] =
    number === undefined ? ["", names] : [" WITH ORDINALITY", [...names, number]];
  return `unnest(${arrays.join(", ")})${ordinality} AS ${name}(${all.join(", ")})`;
}

export const flag = (is: boolean): number => (is ? 1 : 0);

export const orNull = (text: string): string | null => (text === "" ? null : text);

export function flat(places: readonly SlotSeqs[]): SlotSeq[] {
  return places.flatMap(({ slot, seqs }) => seqs.map((seq) => ({ slot, seq })));
}

export function placesTable(
  name: string,
  places: readonly SlotSeq[],
  value: (value: SqlValue) => string,
): string {
  const columns = [
    numbers(places, "slot", ({ slot }) => slot),
    numbers(places, "seq", ({ seq }) => seq),
  ];
  return table(name, columns, value);
}

/**
 * Deletes the rows for which `on` holds; `from` is a table of values. Rows are looked up by key.
 * Otherwise the planner would scan a nearly empty table, including all dead rows that an old
 * snapshot keeps from being vacuumed.
 */
export function deletion(table: string, from: string, on: string): string {
  return `
    DELETE FROM shard.${table} WHERE ctid = ANY (ARRAY(
      SELECT at.ctid FROM ${from} CROSS JOIN LATERAL (SELECT ctid FROM shard.${table} WHERE ${on} OFFSET 0) at
    ))`;
}
