import { expect, test } from "bun:test";
import { reasons } from "../../openapi/reasons.ts";
import { referenceRows } from "./reference-rows.ts";

test("reasons: each with the codes that come with it", () => {
  expect(referenceRows.reasons).toContainEqual({
    reason: "too_large",
    codes: "413, 453",
    meaning: reasons.too_large.meaning,
  });
  expect(referenceRows.reasons.map(({ reason }) => reason)).toEqual(Object.keys(reasons));
});

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
