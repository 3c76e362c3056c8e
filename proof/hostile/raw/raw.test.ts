import { expect, test } from "bun:test";
import { seededRandom } from "../../../engine/simulation/seeded-random.ts";
import { openTarget } from "../target.ts";
import { allRows, tryRaw } from "./raw.ts";
import { firstAnswer } from "./raw-exchange.ts";
import { mutated } from "./raw-mutations.ts";

const silent = () => undefined;

test("raw: every row of the corpus gets its expected answer, damaged ones never a 5xx", async () => {
  await using target = await openTarget();
  for (let round = 0; round < 20; round += 1) await target.canary();
  const baseline = await target.holdings();
  const count = 200;
  const { figures, faults } = await tryRaw({ target, count, seed: 1, log: silent });
  expect(faults).toEqual([]);
  expect(figures["rawRequests"]).toBe(count);
  for (const outcome of [200, 400, 403, 404, 405, 413, 415, 431]) {
    expect([outcome, (figures[`raw ${outcome}`] ?? 0) > 0]).toEqual([outcome, true]);
  }
  expect(await target.settled(baseline)).toEqual([]);
  expect(target.log()).not.toMatch(/"level":"(error|fatal)"/);
});

test("raw: the names of the rows are unique", () => {
  const names = allRows.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test("raw: damage is the same for the same seed, and rarely repeats", () => {
  const draw = (seed: number) => {
    const random = seededRandom(seed);
    return Array.from({ length: 300 }, () =>
      Buffer.from(mutated({ rows: allRows, random })).toString("latin1"),
    );
  };
  expect(draw(3)).toEqual(draw(3));
  expect(new Set([...draw(3), ...draw(4)]).size).toBeGreaterThan(550);
});

test.each([
  ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", { status: 200, text: expect.any(String) }],
  [
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
    { status: 204, text: expect.any(String) },
  ],
  ["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}", null],
  ["HTTP/1.1 100 Continue\r\n\r\n", null],
  ["HTTP/1.1 200 OK\r\n", null],
  ["nonsense\r\n\r\n", { status: Number.NaN, text: "nonsense\r\n\r\n" }],
])("exchange: the first answer in %j", (text, answer) => {
  expect(firstAnswer(text)).toEqual(answer);
});
