import { expect, test } from "bun:test";
import { orServe } from "./command-line.ts";

test.each([
  [[], ["serve"]],
  [
    ["--port", "1"],
    ["serve", "--port", "1"],
  ],
  [
    ["serve", "--port", "1"],
    ["serve", "--port", "1"],
  ],
  [["sreve"], ["sreve"]],
])("orServe: %j", (words, command) => {
  expect(orServe(words, (word) => word.startsWith("-"))).toEqual(command);
});
