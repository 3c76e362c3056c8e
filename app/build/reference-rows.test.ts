import { expect, test } from "bun:test";
import { referenceRows } from "./reference-rows.ts";

test.each([
  ["produce-body", "5 MB"],
  ["import-body", "64 MB"],
  ["body", "256 kB"],
  ["storage-bytes", "32 MiB"],
  ["queue-name", "512 bytes"],
  ["reference", "2 kB"],
])("limits: %s is written as %s", (id, value) => {
  expect(referenceRows.limits.find((limit) => limit.id === id)?.value).toBe(value);
});
