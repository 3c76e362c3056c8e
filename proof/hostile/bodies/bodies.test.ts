import { expect, test } from "bun:test";
import { operations } from "../../../openapi/operations.ts";
import { tryBodies } from "./bodies.ts";
import { brokenOnce, unbroken } from "./broken.ts";

const silent = () => undefined;

test("bodies: valid ones and ones with a single defect are answered by the contract", async () => {
  const count = 1_000;
  const { figures, faults } = await tryBodies({ count, seed: 1, log: silent });
  expect(faults).toEqual([]);
  expect(figures).toMatchObject({ bodies: count, worlds: count / 250 });
  // The bodies exercise the intended cases.
  for (const key of ["valid", "broken", "answered200", "answered400", "answered453", "hungUp"]) {
    expect([key, (figures[key] ?? 0) > 0]).toEqual([key, true]);
  }
});

test("bodies: a seed gives the same bodies each time", async () => {
  const run = () => tryBodies({ count: 250, seed: 7, log: silent });
  expect(await run()).toEqual(await run());
});

test("broken: each break changes the body, and many differ from each other", () => {
  const { request, example } = operations.produce;
  const whole = Buffer.from(unbroken(example).bytes).toString();
  const seen = new Map<string, string>();
  for (let pick = 0; pick < 5_000; pick += 1) {
    const { fault, bytes } = brokenOnce(request, example, pick);
    expect(fault).not.toBeNull();
    const text = Buffer.from(bytes).toString("latin1");
    expect(text).not.toBe(whole);
    seen.set(text, fault ?? "");
  }
  const faults = new Set(seen.values());
  expect(faults.size).toBeGreaterThan(100);
  for (const fault of [
    "the body: items is missing",
    'the body: unknown key "__proto__"',
    "items[0].utf8: half a surrogate pair",
    "items: one too many",
    'request_timeout: means nothing, "-1s"',
    "UTF-16",
  ]) {
    expect(faults).toContain(fault);
  }
});
