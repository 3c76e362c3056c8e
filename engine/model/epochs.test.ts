import { expect, test } from "bun:test";
import { seededRandom } from "../simulation/seeded-random.ts";
import { Epochs } from "./epochs.ts";
import { formatId, idPrefix, isId } from "./ids.ts";
import { limits } from "./limits.ts";

const random = seededRandom(1);
const slot = 3;
const made = Epochs.parse("0123456789Ab");
const first = made.next(0, random);
const second = first.next(10, random);
const third = second.next(25, random);

test("next: the first opening of a store replaces the tag of its creation", () => {
  expect(first.tag).toMatch(/^0000[0-9A-Za-z]{8}$/);
  expect(first.text).toBe(`${first.tag}:0`);
});

test("next: a number keeps the tag under which it was issued, and so its id", () => {
  for (const later of [second, third, Epochs.parse(third.text)]) {
    for (const seq of [0, 9]) {
      const id = first.idOf({ slot, seq });
      expect(later.idOf({ slot, seq })).toBe(id);
      expect(later.placeOf(id)).toEqual({ epochs: null, slot, seq });
    }
  }
  expect([0, 9, 10, 24, 25].map((seq) => third.tagOf(seq))).toEqual(
    [first, first, second, second, third].map(({ tag }) => tag),
  );
});

test("next: a store that went back and issues the same numbers issues other ids", () => {
  const again = first.next(10, random);
  const lost = second.idOf({ slot, seq: 12 });
  expect(again.idOf({ slot, seq: 12 })).not.toBe(lost);
  expect(again.placeOf(lost)).toBe(null);
  // A number that another opening has not issued is not an id of the previous one either.
  expect(second.placeOf(first.idOf({ slot, seq: 12 }))).toBe(null);
});

test("next: an opening that issued nothing leaves no trace", () => {
  const idle = first.next(10, random).next(10, random);
  expect(idle.text).toBe(`${first.tag}:0 ${idle.tag}:10`);
});

test("next: ids as texts have the order of their numbers", () => {
  let epochs = made;
  const ids: string[] = [];
  for (let seq = 0; seq < 5_000; seq += 1) {
    if (seq % 7 === 0) epochs = epochs.next(seq, random);
    ids.push(epochs.idOf({ slot, seq }));
  }
  expect(ids.toSorted()).toEqual(ids);
  expect(ids.every(isId)).toBe(true);
});

test("next: no more epochs are kept than the bound", () => {
  let epochs = made;
  for (let seq = 0; seq < 5_000; seq += 1) epochs = epochs.next(seq, random);
  expect(epochs.text.split(" ").length).toBe(limits.epochsMax);
  expect(epochs.tagOf(0)).toBe(epochs.tagOf(5_000 - limits.epochsMax));
  expect(epochs.tagOf(1_000)).not.toBe(epochs.tagOf(999));
});

test("seqFrom: returns the first number whose id is not before the text", () => {
  const ids = Array.from({ length: 40 }, (_, seq) => third.idOf({ slot, seq }));
  for (const [seq, id] of ids.entries()) expect(third.seqFrom(slot, id)).toBe(seq);
  const texts = [
    "0".repeat(27),
    formatId(idPrefix(first.tag, slot), 12),
    formatId(idPrefix(second.tag, slot), 3),
    formatId(idPrefix(second.tag, slot), 30),
    formatId(idPrefix(third.tag, slot + 1), 3),
    ...ids.map((id) => `${id.slice(0, -1)}!`),
  ];
  for (const text of texts) {
    const expected = ids.findIndex((id) => id >= text);
    const got = third.seqFrom(slot, text);
    expect(expected === -1 ? ids.length : expected).toBe(Math.min(got, ids.length));
  }
});

test("seqFrom: numbers from before the oldest known epoch are not skipped", () => {
  let epochs = made;
  const [count, openings] = [2 * (limits.epochsMax + 10), limits.epochsMax + 10];
  for (let opening = 0; opening < openings; opening += 1) epochs = epochs.next(2 * opening, random);
  const ids = Array.from({ length: count }, (_, seq) => epochs.idOf({ slot, seq }));
  expect(epochs.seqFrom(slot, "")).toBe(0);
  for (const [seq, id] of ids.entries()) {
    if (seq < 50 || seq > count - 50) expect(epochs.seqFrom(slot, id)).toBe(seq);
  }
});

test("idOf: numbers of earlier stores keep their ids, at the slots of those stores", () => {
  // The numbers of the first store end at 30; those of the second, which has one epoch, at 40.
  const middle = Epochs.after([third.own], 30, random);
  const latest = Epochs.after([third.own, middle.own], 40, random)
    .next(40, random)
    .next(45, random);
  const origins = [
    { epochs: 0, slot },
    { epochs: 1, slot: 7 },
  ];
  const idAt = (seq: number): string => {
    if (seq < 30) return third.idOf({ slot, seq });
    return seq < 40 ? middle.idOf({ slot: 7, seq }) : latest.idOf({ slot: 1, seq });
  };
  const seqs = Array.from({ length: 60 }, (_, seq) => seq);
  const ids = seqs.map(idAt);
  for (const epochs of [latest, Epochs.parse(latest.text)]) {
    expect(seqs.map((seq) => epochs.idOf({ slot: 1, seq }, origins))).toEqual(ids);
    expect(seqs.map((seq) => epochs.seqFrom(1, ids[seq] ?? "", origins))).toEqual(seqs);
    const places = ids.map((id) => epochs.placeOf(id));
    expect(places[29]).toEqual({ epochs: 0, slot, seq: 29 });
    expect(places[30]).toEqual({ epochs: 1, slot: 7, seq: 30 });
    expect(places[40]).toEqual({ epochs: null, slot: 1, seq: 40 });
  }
  expect(ids.toSorted()).toEqual(ids);
  // The slot of a partition that was never moved.
  expect(latest.idOf({ slot: 2, seq: 50 })).toBe(latest.own.idOf({ slot: 2, seq: 50 }));
});
