import { expect, test } from "bun:test";
import { type Track, tracks } from "./lease-loop-story.ts";

const queue = tracks.filter(({ target }) => /^hf-loop-[a-g]$/.test(target));

function placesAt(end: "first" | "last"): unknown[] {
  const frameOf = ({ frames }: Track) => frames.at(end === "first" ? 0 : -1);
  return queue
    .map(frameOf)
    .filter((frame) => frame?.["opacity"] !== 0)
    .map((frame) => frame?.["transform"])
    .sort();
}

test("loop: its last frame shows the queue as its first does", () => {
  expect(placesAt("last")).toEqual(placesAt("first"));
});

test.each(tracks.map((track) => [track.target, track] as const))(
  "loop: the keyframes of %s go from 0 to 1 in order",
  (_, { frames }) => {
    const offsets = frames.map(({ offset }) => offset ?? Number.NaN);
    expect(offsets[0]).toBe(0);
    expect(offsets.at(-1)).toBe(1);
    expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
  },
);
