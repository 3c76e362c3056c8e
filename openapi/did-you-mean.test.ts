import { expect, test } from "bun:test";
import { didYouMean, nearest } from "./did-you-mean.ts";

test.each([
  { word: "--prot", match: "--port" },
  { word: "--PORT", match: "--port" },
  { word: "--hosts", match: "--host" },
  { word: "--colour", match: null },
  // Two edits of a three-letter word make a different word.
  { word: "abc", match: null },
  { word: "", match: null },
])("nearest: $word is $match", ({ word, match }) => {
  expect(nearest(word, ["--host", "--port", "xbz"])).toBe(match);
});

test("didYouMean: suggests the nearest of several, or nothing", () => {
  expect(didYouMean("--shard", ["--shorts", "--shards"])).toBe(" (did you mean --shards?)");
  expect(didYouMean("--shard", ["--port"])).toBe("");
});
