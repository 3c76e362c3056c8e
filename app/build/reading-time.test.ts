import { expect, test } from "bun:test";
import { proseOf, readingMinutes } from "./reading-time.ts";

const words = (count: number) => "word ".repeat(count);

test.each([
  [0, 1],
  [299, 1],
  [300, 2],
  [1_000, 5],
])("%d words take %d minutes", (count, minutes) => {
  expect(readingMinutes(words(count))).toBe(minutes);
});

test("reading time: code, imports, components, comments and markup do not count", () => {
  const source = [
    'import { Chart } from "./chart.tsx";',
    "## Two words",
    "```ts",
    "const not = read;",
    "```",
    "{/* nor this */}",
    'Three *more* words <Chart of="none" />',
  ].join("\n");
  expect(proseOf(source).split(/\s+/).filter(Boolean)).toEqual([
    "Two",
    "words",
    "Three",
    "more",
    "words",
  ]);
});
