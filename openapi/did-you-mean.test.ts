import { expect, test } from "bun:test";
import { didYouMean, nearest } from "./did-you-mean.ts";

test.each([
  { word: "--prot", match: "--port" },
  { word: "--PORT", match: "--port" },
  { word: "--hosts", match: "--host" },
  { word: "--colour", match: null },
  // Short words have few letters to be wrong in: two edits of three letters are another word.
  { word: "abc", match: null },
  { word: "", match: null },
])("nearest: $word is $match", ({ word, match }) => {
  expect(nearest(word, ["--host", "--port", "xbz"])).toBe(match);
});

test("didYouMean: the nearest of several wins, and nothing near says nothing", () => {
  expect(didYouMean("--shard", ["--shorts", "--shards"])).toBe(" (did you mean --shards?)");
  expect(didYouMean("--shard", ["--port"])).toBe("");
});
