// Item ids: 27 characters `0-9A-Za-z` whose text order is the queue order of a partition. An id
// encodes the store, the slot and the sequence number of its item. So finding an item needs no
// index, and issuing an id no more arithmetic than five divisions.
//
//   1   version, `1` (less than `a`, so that every id is also a valid KSUID text)
//   12  tag of the opening of the store: 4 ascending, 8 random
//   4   slot
//   10  seq

import { limits } from "./limits.ts";
import type { Random } from "./random.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const base = 62;
const tagLength = 12;
/** Digits of a tag by which the text order of ids follows the order of openings. */
const orderLength = 4;
const slotLength = 4;
const seqLength = 10;
const prefixLength = 1 + tagLength + slotLength;
export const idLength = prefixLength + seqLength;

/** Two digits at a time halve the divisions. */
const pairs: readonly string[] = [...alphabet].flatMap((high) =>
  [...alphabet].map((low) => high + low),
);
const pairBase = base * base;

const digitValues = new Int8Array(128).fill(-1);
for (const [value, digit] of [...alphabet].entries()) digitValues[digit.charCodeAt(0)] = value;

/** `length` is even; the number must fit. */
function digits(number: number, length: number): string {
  let text = "";
  let rest = number;
  for (let place = 0; place < length; place += 2) {
    const higher = Math.floor(rest / pairBase);
    text = (pairs[rest - higher * pairBase] as string) + text;
    rest = higher;
  }
  return text;
}

export function newTag(random: Random): string {
  return Array.from({ length: tagLength }, () => alphabet[random.below(base)]).join("");
}

/** The tag of the next opening after the one tagged `before`; `null` = of the first. */
export function nextTag(before: string | null, random: Random): string {
  const number = before === null ? 0 : (numberOf(before, 0, orderLength) ?? 0) + 1;
  return (
    digits(Math.min(number, base ** orderLength - 1), orderLength) +
    newTag(random).slice(orderLength)
  );
}

/** The part of a tag that increases with each opening of the store. */
export function openingOf(tag: string): string {
  return tag.slice(0, orderLength);
}

/** The part that all ids of a slot with one tag have in common. */
export function idPrefix(tag: string, slot: number): string {
  return `1${tag}${digits(slot, slotLength)}`;
}

/** The last id without its last two digits: neighbours share it. */
let before = { prefix: "", higher: -1, text: "" };

export function formatId(prefix: string, seq: number): string {
  const higher = Math.floor(seq / pairBase);
  if (before.higher !== higher || before.prefix !== prefix) {
    before = { prefix, higher, text: prefix + digits(higher, seqLength - 2) };
  }
  return before.text + (pairs[seq - higher * pairBase] as string);
}

/** The sequence number of an id of this slot; `null` if the id belongs elsewhere. */
export function seqOf(prefix: string, id: string): number | null {
  if (id.length !== idLength || !id.startsWith(prefix)) return null;
  return numberOf(id, prefixLength, idLength);
}

function numberOf(text: string, from: number, before: number): number | null {
  let number = 0;
  for (let place = from; place < before; place += 1) {
    const value = digitValues[text.charCodeAt(place)] ?? -1;
    if (value < 0) return null;
    number = number * base + value;
  }
  return Number.isSafeInteger(number) ? number : null;
}

/** `null` for a text that no store issued. */
export function placeOf(
  id: string,
): { readonly tag: string; readonly slot: number; readonly seq: number } | null {
  if (id.length !== idLength) return null;
  const slot = numberOf(id, 1 + tagLength, prefixLength);
  const seq = numberOf(id, prefixLength, idLength);
  if (slot === null || slot > limits.slotLast || seq === null) return null;
  return { tag: id.slice(1, 1 + tagLength), slot, seq };
}

export function isId(text: string): boolean {
  return text.length === idLength && /^[0-9A-Za-z]+$/.test(text);
}
