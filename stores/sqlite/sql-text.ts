// Pieces of SQL that more than one table's statements are made of. In all of
// them ?1 is the slot and ?2 the sequence number.

import { itemColumns } from "./rows.ts";

/** Added, not joined by OR: a bound may be one past the last seq. */
export const keyOf = (slot: string, seq: string): string => `((${slot} << 45) + ${seq})`;
export const key = keyOf("?1", "?2");
export const place = "key >> 45, key & 0x1fffffffffff";
export const placeAndItem = `${place}, ${itemColumns}`;
/**
 * As a sum, because SQLite compiles a statement anew for each value that is bound to a bare
 * parameter there, which takes ten times as long as to run it.
 */
export const limitOf = (parameter: string): string => `LIMIT ${parameter} + 0`;
/** Values for `itemColumns`. */
export const insertedItem =
  "?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, CAST(?14 AS BLOB), ?15";
