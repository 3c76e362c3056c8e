import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { IdleTimeouts, idleTimeoutSeconds, readerTimeoutSeconds } from "./idle-timeouts.ts";

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function setup() {
  const bounds: [name: string, seconds: number][] = [];
  const idleTimeouts = new IdleTimeouts((request, seconds) => {
    bounds.push([new URL(request.url).pathname, seconds]);
  });
  return { bounds, idleTimeouts, request: (name: string) => new Request(`http://x${name}`) };
}

test("idle timeout: a quick answer leaves it alone", () => {
  const { bounds, idleTimeouts, request } = setup();
  const quick = request("/quick");
  idleTimeouts.begin(quick);
  idleTimeouts.end(quick, 100);
  jest.advanceTimersByTime(60_000);
  expect(bounds).toEqual([]);
});

test("idle timeout: lifted while a request waits, and set again with the answer", () => {
  const { bounds, idleTimeouts, request } = setup();
  const [slow, late] = [request("/slow"), request("/late")];
  idleTimeouts.begin(slow);
  jest.advanceTimersByTime(9_000);
  idleTimeouts.begin(late);
  jest.advanceTimersByTime(2_000);
  expect(bounds).toEqual([
    ["/slow", 0],
    ["/late", 0],
  ]);
  jest.advanceTimersByTime(120_000);
  expect(bounds).toHaveLength(2);
  idleTimeouts.end(slow, 100);
  expect(bounds.at(-1)).toEqual(["/slow", idleTimeoutSeconds]);
  idleTimeouts.end(late, 100);
  jest.advanceTimersByTime(60_000);
  idleTimeouts.begin(slow);
  jest.advanceTimersByTime(11_000);
  expect(bounds.slice(3)).toEqual([
    ["/late", idleTimeoutSeconds],
    ["/slow", 0],
  ]);
});

test("idle timeout: longer after a large answer, whether it was quick or not", () => {
  const { bounds, idleTimeouts, request } = setup();
  const [quick, slow] = [request("/quick"), request("/slow")];
  idleTimeouts.begin(quick);
  idleTimeouts.end(quick, 1_000_000);
  idleTimeouts.begin(slow);
  jest.advanceTimersByTime(11_000);
  idleTimeouts.end(slow, 1_000_000);
  expect(bounds).toEqual([
    ["/quick", readerTimeoutSeconds],
    ["/slow", 0],
    ["/slow", readerTimeoutSeconds],
  ]);
});
