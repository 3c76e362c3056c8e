import { expect, test } from "bun:test";
import { seededRandom } from "../simulation/seeded-random.ts";
import { formatId, idPrefix, isId, newTag, placeOf, seqOf } from "./ids.ts";
import { limits } from "./limits.ts";

const tag = "0123456789Ab";
const prefix = idPrefix(tag, 7);
/** The greatest text that the reference implementation accepts as an id. */
const greatest = "aWgEPTl1tmebfsQzFP4bxwgy80V";

test.each([0, 1, 61, 62, 3_843, 3_844, 10 ** 9, limits.seqMax])(
  "formatId: %d is read back",
  (seq) => {
    const id = formatId(prefix, seq);
    expect(id).toMatch(/^[0-9A-Za-z]{27}$/);
    expect(seqOf(prefix, id)).toBe(seq);
  },
);

test("formatId: text order is the order of the numbers", () => {
  const seqs = [
    0,
    1,
    9,
    10,
    35,
    36,
    61,
    62,
    63,
    3_843,
    3_844,
    238_328,
    2 ** 31,
    2 ** 44,
    limits.seqMax,
  ];
  const ids = seqs.map((seq) => formatId(prefix, seq));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test("idPrefix: slots do not share ids, and the greatest id is a valid KSUID text", () => {
  const last = idPrefix("z".repeat(12), limits.slotLast);
  expect(formatId(last, limits.seqMax) < greatest).toBe(true);
  const prefixes = [0, 1, 61, 62, 3_844, limits.slotsMax - 1].map((slot) => idPrefix(tag, slot));
  expect(new Set(prefixes).size).toBe(prefixes.length);
  expect(prefixes.map(({ length }) => length)).toEqual(prefixes.map(() => 17));
});

test.each([
  ["of another slot", formatId(idPrefix(tag, 8), 5)],
  ["of another store", formatId(idPrefix("zzzzzzzzzzzz", 7), 5)],
  ["too short", formatId(prefix, 5).slice(1)],
  ["too long", `${formatId(prefix, 5)}0`],
  ["with another character", `${prefix}00000000-5`],
  ["with a character beyond ASCII", `${prefix}00000000é5`],
  ["with a number that is too large", `${prefix}zzzzzzzzzz`],
  ["empty", ""],
])("seqOf: an id %s does not belong to this slot", (_, id) => {
  expect(seqOf(prefix, id)).toBe(null);
});

test.each([
  ["0".repeat(27), true],
  [greatest, true],
  ["0".repeat(26), false],
  ["0".repeat(28), false],
  [`${"0".repeat(26)}_`, false],
  [`${"0".repeat(26)}\n`, false],
])("isId: %j is %p", (text, expected) => {
  expect(isId(text)).toBe(expected);
});

test("newTag: returns twelve random characters", () => {
  const random = seededRandom(1);
  const tags = Array.from({ length: 100 }, () => newTag(random));
  for (const one of tags) expect(one).toMatch(/^[0-9A-Za-z]{12}$/);
  expect(new Set(tags).size).toBe(100);
});

test("placeOf: an id with a slot that no partition can have names nothing", () => {
  const idIn = (slot: number) => formatId(idPrefix(tag, slot), 5);
  expect(placeOf(idIn(limits.slotLast))).toEqual({ tag, slot: limits.slotLast, seq: 5 });
  // The key of a row has 18 bits for the slot: a higher one would be another partition's.
  for (const slot of [limits.slotLast + 1, 2 ** 18, 2 ** 19 + 7])
    expect(placeOf(idIn(slot))).toBeNull();
});
