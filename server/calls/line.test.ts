// A line that gives calls up: what its other end receives.

import { expect, test } from "bun:test";
import { VirtualClock } from "../../engine/simulation/virtual-clock.ts";
import type { Asked, Call } from "./call.ts";
import { decodeCalls, encodeAnswers } from "./frame.ts";
import { type Limit, Line } from "./line.ts";

const produce: Call = { operation: "produce", body: "{}", requestKey: null };

/** A line, all that it has sent, and a limit that ends when the test says so. */
function newLine() {
  const sent: Asked[] = [];
  const clock = new VirtualClock(0);
  const line = new Line((frame) => sent.push(...decodeCalls(frame)), clock);
  let end = (): void => undefined;
  const limit: Limit = (giveUp) => {
    end = giveUp;
    return { cancel: () => undefined };
  };
  return { line, sent, clock, limit, end: () => end() };
}

test("a call that is given up before it is sent is never sent", async () => {
  const { line, sent, clock, limit, end } = newLine();
  const client = new AbortController();
  const [given, kept] = [line.call(produce, client, limit), line.call(produce, client)];
  end();
  expect(await given).toEqual({ is: "unsent" });
  line.open();
  await clock.settle();
  expect(sent).toEqual([{ number: 2, call: produce }]);
  const answer = { is: "done", text: "{}", isReplayed: false } as const;
  line.heard(encodeAnswers([{ number: 2, answer }]));
  expect(await kept).toEqual(answer);
});

test("a call that is given up after it was sent is lost, and its other end hangs up", async () => {
  const { line, sent, clock, limit, end } = newLine();
  line.open();
  const given = line.call(produce, new AbortController(), limit);
  await clock.settle();
  end();
  expect(await given).toEqual({ is: "lost" });
  await clock.settle();
  expect(sent).toEqual([
    { number: 1, call: produce },
    { number: 1, call: null },
  ]);
  expect(line.isIdle).toBe(true);
});
