// A call client that gives up calls, and what the server receives.

import { expect, test } from "bun:test";
import { VirtualClock } from "../../engine/simulation/virtual-clock.ts";
import type { Call, NumberedCall } from "./call.ts";
import { CallClient, type Limit } from "./call-client.ts";
import { decodeCalls, encodeAnswers } from "./frame.ts";

const produce: Call = { operation: "produce", shard: null, body: "{}", requestKey: null };

/** A client, the calls that it has sent, and a time limit that the test ends. */
function setup() {
  const sent: NumberedCall[] = [];
  const clock = new VirtualClock(0);
  const callClient = new CallClient((frame) => sent.push(...decodeCalls(frame)), clock);
  let end = (): void => undefined;
  const limit: Limit = (giveUp) => {
    end = giveUp;
    return { cancel: () => undefined };
  };
  return { callClient, sent, clock, limit, end: () => end() };
}

test("a call that is given up before it is sent is never sent", async () => {
  const { callClient, sent, clock, limit, end } = setup();
  const client = new AbortController();
  const [given, kept] = [callClient.call(produce, client, limit), callClient.call(produce, client)];
  end();
  expect(await given).toEqual({ is: "unsent" });
  callClient.open();
  await clock.settle();
  expect(sent).toEqual([{ number: 2, call: produce }]);
  const answer = { is: "done", text: "{}", isReplayed: false } as const;
  callClient.receive(encodeAnswers([{ number: 2, answer }]));
  expect(await kept).toEqual(answer);
});

test("a call that is given up after it was sent is lost, and its other end hangs up", async () => {
  const { callClient, sent, clock, limit, end } = setup();
  callClient.open();
  const given = callClient.call(produce, new AbortController(), limit);
  await clock.settle();
  end();
  expect(await given).toEqual({ is: "lost" });
  await clock.settle();
  expect(sent).toEqual([
    { number: 1, call: produce },
    { number: 1, call: null },
  ]);
  expect(callClient.isIdle).toBe(true);
});

test("Bun: the signal of a request, first read after its client hung up, is aborted", async () => {
  const [arrived, checked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      await request.text();
      arrived.resolve();
      await Bun.sleep(50);
      const { signal } = request;
      // If the signal is not aborted yet, the hang-up will abort it later.
      if (!signal.aborted)
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      checked.resolve();
      return new Response();
    },
  });
  const leaving = new AbortController();
  const init = { method: "POST", body: "{}", signal: leaving.signal };
  const gone = fetch(server.url, init).catch(() => null);
  await arrived.promise;
  leaving.abort();
  expect(await gone).toBeNull();
  await checked.promise;
});
