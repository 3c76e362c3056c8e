// A line that gives calls up: what its other end receives.

import { expect, test } from "bun:test";
import type { Asked, Call } from "./call.ts";
import { type Limit, Line } from "./line.ts";

const produce: Call = { operation: "produce", body: "{}", requestKey: null };

/** A line, all that it has sent, and a limit that ends when the test says so. */
function newLine() {
  const sent: Asked[] = [];
  const line = new Line(
    (asked) => sent.push(...asked),
    (run) => run(),
  );
  let end = (): void => undefined;
  const limit: Limit = (giveUp) => {
    end = giveUp;
    return { cancel: () => undefined };
  };
  return { line, sent, limit, end: () => end() };
}

test("a call that is given up before it is sent is never sent", async () => {
  const { line, sent, limit, end } = newLine();
  const signal = new AbortController().signal;
  const [given, kept] = [line.call(produce, signal, limit), line.call(produce, signal)];
  end();
  expect(await given).toEqual({ is: "unsent" });
  line.open();
  expect(sent).toEqual([{ number: 2, call: produce }]);
  line.heard([{ number: 2, answer: { is: "done", text: "{}", isReplayed: false } }]);
  expect(await kept).toMatchObject({ is: "done" });
});

test("a call that is given up after it was sent is lost, and its other end hangs up", async () => {
  const { line, sent, limit, end } = newLine();
  line.open();
  const given = line.call(produce, new AbortController().signal, limit);
  end();
  expect(await given).toEqual({ is: "lost" });
  expect(sent).toEqual([
    { number: 1, call: produce },
    { number: 1, call: null },
  ]);
  expect(line.isIdle).toBe(true);
});
