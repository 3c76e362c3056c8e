import { expect, test } from "bun:test";
import { leftFaults } from "./soak.ts";

test("soak: a server at rest keeps neither memory nor descriptors nor files", () => {
  const mebibyte = 1_048_576;
  const before = { residentBytes: 100 * mebibyte, descriptors: 30, fileBytes: mebibyte };
  const kinds = (after: Partial<typeof before>) =>
    leftFaults(before, { ...before, ...after }).map(([kind]) => kind);
  expect(kinds({ residentBytes: 150 * mebibyte, descriptors: 32 })).toEqual([]);
  expect(kinds({ residentBytes: 165 * mebibyte })).toEqual(["memory is left"]);
  expect(kinds({ descriptors: 33 })).toEqual(["descriptors are left"]);
  expect(kinds({ fileBytes: 9 * mebibyte })).toEqual([
    "the files stay large after the queues are drained",
  ]);
});
