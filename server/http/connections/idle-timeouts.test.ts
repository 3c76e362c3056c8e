import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { idleTimeoutSeconds, readerTimeoutSeconds, Silence } from "./idle-timeouts.ts";

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function setup() {
  const bounds: [name: string, seconds: number][] = [];
  const silence = new Silence((request, seconds) => {
    bounds.push([new URL(request.url).pathname, seconds]);
  });
  return { bounds, silence, request: (name: string) => new Request(`http://x${name}`) };
}

test("silence: a quick answer leaves the bound alone", () => {
  const { bounds, silence, request } = setup();
  const quick = request("/quick");
  silence.begin(quick);
  silence.end(quick, 100);
  jest.advanceTimersByTime(60_000);
  expect(bounds).toEqual([]);
});

test("silence: the bound is lifted before it can pass, and set again with the answer", () => {
  const { bounds, silence, request } = setup();
  const [slow, late] = [request("/slow"), request("/late")];
  silence.begin(slow);
  jest.advanceTimersByTime(9_000);
  silence.begin(late);
  jest.advanceTimersByTime(2_000);
  expect(bounds).toEqual([
    ["/slow", 0],
    ["/late", 0],
  ]);
  jest.advanceTimersByTime(120_000);
  expect(bounds).toHaveLength(2);
  silence.end(slow, 100);
  expect(bounds.at(-1)).toEqual(["/slow", idleTimeoutSeconds]);
  silence.end(late, 100);
  jest.advanceTimersByTime(60_000);
  silence.begin(slow);
  jest.advanceTimersByTime(11_000);
  expect(bounds.slice(3)).toEqual([
    ["/late", idleTimeoutSeconds],
    ["/slow", 0],
  ]);
});

test("silence: a large answer is given longer, whether it was quick or not", () => {
  const { bounds, silence, request } = setup();
  const [quick, slow] = [request("/quick"), request("/slow")];
  silence.begin(quick);
  silence.end(quick, 1_000_000);
  silence.begin(slow);
  jest.advanceTimersByTime(11_000);
  silence.end(slow, 1_000_000);
  expect(bounds).toEqual([
    ["/quick", readerTimeoutSeconds],
    ["/slow", 0],
    ["/slow", readerTimeoutSeconds],
  ]);
});
