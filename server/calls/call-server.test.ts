// A call client and a call server, joined without a thread or a network between them.

import { expect, test } from "bun:test";
import { VirtualClock } from "../../engine/simulation/virtual-clock.ts";
import type { Caller } from "../routes/route.ts";
import { silentLog } from "../testing/memory-engine.ts";
import type { Answer, Call } from "./call.ts";
import { CallClient, hangUpDelayMs } from "./call-client.ts";
import { CallServer } from "./call-server.ts";
import { decodeCalls, encodeCalls } from "./frame.ts";

interface Started {
  readonly call: Call;
  readonly caller: Caller;
  readonly answer: (answer: Answer) => void;
}

/** Both ends, the frames in each direction, and the calls that the server has started. */
function setup() {
  const clock = new VirtualClock(0);
  const started: Started[] = [];
  const frames = { there: [] as string[], back: [] as string[] };
  const callClient = new CallClient((frame) => {
    frames.there.push(frame);
    callServer.receive(frame);
  }, clock);
  const callServer = new CallServer({
    answer: (call, caller) =>
      new Promise((answer) => {
        started.push({ call, caller, answer });
      }),
    send: (frame) => {
      frames.back.push(frame);
      callClient.receive(frame);
    },
    log: silentLog,
    nextTick: (run) => clock.nextTick(run),
  });
  callClient.open();
  return { clock, started, frames, callClient, callServer };
}

const client = new AbortController();
const callOf = (body: string, operation: Call["operation"] = "produce"): Call => ({
  ...{ operation, shard: null, body, requestKey: null },
});
const done = (text: string): Answer => ({ is: "done", text, isReplayed: false });

test("the calls of one tick are sent in one frame, and so are their answers", async () => {
  const { clock, started, frames, callClient } = setup();
  const replies = ["a", "b", "c", "d"].map((body) => callClient.call(callOf(body), client));
  await clock.settle();
  for (const { call, answer } of started) answer(done(call.body));
  await clock.settle();
  expect(await Promise.all(replies)).toEqual(["a", "b", "c", "d"].map(done));
  expect([frames.there.length, frames.back.length]).toEqual([1, 1]);
});

test("each call gets its own answer, in any order and over several ticks", async () => {
  const { clock, started, callClient, callServer } = setup();
  const bodies = ["a", "b", "c", "d", "e", "f"];
  const replies = bodies.map((body) => callClient.call(callOf(body), client));
  await clock.settle();
  for (const index of [4, 1, 5]) started[index]?.answer(done(`of ${bodies[index]}`));
  await clock.settle();
  for (const index of [3, 0, 2]) started[index]?.answer(done(`of ${bodies[index]}`));
  await clock.settle();
  expect(await Promise.all(replies)).toEqual(bodies.map((body) => done(`of ${body}`)));
  expect([callClient.isIdle, callServer.isIdle]).toEqual([true, true]);
});

test("a torn frame starts no call and settles none", async () => {
  const { clock, started, frames, callClient, callServer } = setup();
  const replies = ["a", "b", "c"].map((body) => callClient.call(callOf(body), client));
  await clock.settle();
  const whole = frames.there[0] ?? "";
  for (let length = 0; length < whole.length; length += 1) {
    expect(() => callServer.receive(whole.slice(0, length))).toThrow(/^frame is /);
  }
  // The length is right, but the last call is malformed.
  expect(() => callServer.receive(`${whole.slice(0, -2)}x,`)).toThrow(/^frame is malformed/);
  expect(started.map(({ call }) => call.body)).toEqual(["a", "b", "c"]);

  for (const { call, answer } of started) answer(done(call.body));
  let settled = 0;
  for (const one of replies) void one.then(() => (settled += 1));
  const receive = callClient.receive.bind(callClient);
  callClient.receive = (frame) => {
    expect(() => receive(frame.slice(0, -1))).toThrow(/^frame is torn/);
    expect(() => receive(`${frame.slice(0, -2)}x,`)).toThrow(/^frame is malformed/);
  };
  await clock.settle();
  expect([settled, callClient.isIdle]).toEqual([0, false]);
  receive(frames.back[0] ?? "");
  expect(await Promise.all(replies)).toEqual(["a", "b", "c"].map(done));
});

test("a hang-up of one lease reaches the other end, and aborts no other call", async () => {
  const { clock, started, callClient } = setup();
  const hangingUp = new AbortController();
  for (const one of [client, hangingUp, client]) void callClient.call(callOf("", "lease"), one);
  await clock.settle();
  hangingUp.abort();
  await clock.settle();
  expect(started.map(({ caller }) => caller.signal.aborted)).toEqual([false, true, false]);
});

test("a hang-up aborts a signal that was read before", async () => {
  const { clock, started, callClient } = setup();
  const hangingUp = new AbortController();
  void callClient.call(callOf("", "lease"), hangingUp);
  await clock.settle();
  const signal = started[0]?.caller.signal;
  expect(signal?.aborted).toBe(false);
  hangingUp.abort();
  await clock.settle();
  expect(signal?.aborted).toBe(true);
});

test("a hang-up before the lease is sent reaches the other end", async () => {
  const { clock, started, callClient } = setup();
  const hangingUp = new AbortController();
  hangingUp.abort();
  void callClient.call(callOf("", "lease"), hangingUp);
  await clock.settle();
  expect(started.map(({ caller }) => caller.signal.aborted)).toEqual([true]);
});

test.each([1, hangUpDelayMs + 1])(
  "a hang-up after %d ms of waiting reaches the other end, for one produce and for the next",
  async (ms) => {
    const { clock, started, callClient } = setup();
    for (let time = 0; time < 2; time += 1) {
      const hangingUp = new AbortController();
      for (const one of [hangingUp, client]) void callClient.call(callOf("a"), one);
      await clock.advance(ms);
      hangingUp.abort();
      await clock.advance(hangUpDelayMs);
    }
    const areAborted = started.map(({ caller }) => caller.signal.aborted);
    expect(areAborted).toEqual([true, false, true, false]);
  },
);

test("a hang-up after the answer is not sent", async () => {
  const { clock, started, frames, callClient } = setup();
  const hangingUp = new AbortController();
  const reply = callClient.call(callOf("", "lease"), hangingUp);
  await clock.settle();
  started[0]?.answer(done("{}"));
  await clock.settle();
  await reply;
  hangingUp.abort();
  await clock.advance(2 * hangUpDelayMs);
  expect(frames.there.flatMap(decodeCalls)).toHaveLength(1);
});

test("the end of the connection aborts the calls, and their outcome is lost", async () => {
  const { clock, started, frames, callClient, callServer } = setup();
  const reply = callClient.call(callOf("a"), client);
  await clock.settle();
  callServer.end();
  callClient.end();
  expect(await reply).toEqual({ is: "lost" });
  expect(started.map(({ caller }) => caller.signal.aborted)).toEqual([true]);
  started[0]?.answer(done("{}"));
  await clock.settle();
  expect(frames.back).toEqual([]);
});

test("an unexpected error is answered as failed, and the other calls are done", async () => {
  const clock = new VirtualClock(0);
  const callClient = new CallClient((frame) => callServer.receive(frame), clock);
  const callServer = new CallServer({
    answer: ({ body }) =>
      body === "b" ? Promise.reject(new Error("a bug")) : Promise.resolve(done(body)),
    send: (frame) => callClient.receive(frame),
    log: silentLog,
    nextTick: (run) => clock.nextTick(run),
  });
  callClient.open();
  const replies = ["a", "b", "c"].map((body) => callClient.call(callOf(body), client));
  await clock.settle();
  expect(await Promise.all(replies)).toEqual([done("a"), { is: "failed" }, done("c")]);
});

test("answers and hang-ups of unknown calls are ignored", () => {
  const { callClient, callServer } = setup();
  callServer.receive(encodeCalls([{ number: 9, call: null }]));
  callClient.receive("a8,9,2,{}0,");
  expect(callClient.isIdle).toBe(true);
});
