// Fragments of SQL that several tables share. In all of them ?1 is the slot and ?2 the sequence
// number.

import { itemColumns } from "./rows.ts";

/** By +, not |, because a bound may be one past the last seq. */
export const keyOf = (slot: string, seq: string): string => `((${slot} << 45) + ${seq})`;
export const key = keyOf("?1", "?2");
export const place = "key >> 45, key & 0x1fffffffffff";
export const placeAndItem = `${place}, ${itemColumns}`;
/**
 * As a sum: SQLite recompiles a statement for each value bound to a bare parameter there, which
 * takes ten times as long as running it.
 */
export const limitOf = (parameter: string): string => `LIMIT ${parameter} + 0`;
/** Values for `itemColumns`. */
export const insertedItem =
  "?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, CAST(?14 AS BLOB), ?15";
