// A connection between two nodes on which a torn frame arrives.

import { expect, test } from "bun:test";
import { VirtualClock } from "../../engine/simulation/virtual-clock.ts";
import type { Call } from "../calls/call.ts";
import { decodeAnswers, encodeCalls } from "../calls/frame.ts";
import type { Log } from "../observability/log.ts";
import { silentLog } from "../testing/memory-engine.ts";
import { connectBySocket, Peer, type WireEvents } from "./peer.ts";
import { peerRoutes } from "./peer-routes.ts";
import type { Router } from "./router.ts";

const call: Call = {
  operation: "produce",
  shard: null,
  body: '{"utf8":"ü,\\n"}',
  requestKey: null,
};
const done = { is: "done", text: '"é"', isReplayed: false } as const;

test("a torn frame of answers closes the connection, and its calls are lost", async () => {
  const clock = new VirtualClock(0);
  const sent: string[] = [];
  const unreached: string[] = [];
  let events: WireEvents | null = null;
  let closed = 0;
  const peer = new Peer(
    { url: "http://b", key: "" },
    {
      clock,
      connect: (_, given) => {
        events = given;
        return { send: (text) => sent.push(text), close: () => (closed += 1) };
      },
      unreached: (why) => unreached.push(why),
    },
  );
  const wire = events as unknown as WireEvents;
  wire.opened();
  const outcomes = [1, 2].map(() =>
    peer.call(call, new AbortController(), Number.POSITIVE_INFINITY),
  );
  await clock.settle();
  expect(sent).toEqual([encodeCalls([1, 2].map((number) => ({ number, call })))]);
  wire.received('a20,1,3,"é"0,');
  expect(await Promise.all(outcomes)).toEqual([{ is: "lost" }, { is: "lost" }]);
  expect(unreached).toEqual(["Error: frame is torn; expected 20 characters, got 9"]);
  expect([closed, peer.isOver]).toEqual([1, true]);
});

test("a torn frame of calls closes the connection, and starts no call", async () => {
  const served: Call[] = [];
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (event) => errors.push(event) };
  const router = {
    isLeaving: false,
    serve: (received: Call) => {
      served.push(received);
      return Promise.resolve(done);
    },
  };
  const app = peerRoutes({
    ...{
      views: () => null as never,
      requestDrain: () => null as never,
      router: router as unknown as Router,
      key: "k",
      log,
    },
  }).listen({ hostname: "127.0.0.1", port: 0 });
  const node = { url: `http://127.0.0.1:${app.server?.port}`, key: "k" };
  const received: string[] = [];
  const frame = encodeCalls([1, 2].map((number) => ({ number, call })));
  try {
    await new Promise<void>((closed) => {
      const wire = connectBySocket(node, {
        opened: () => wire.send(frame),
        received: (text) => {
          received.push(text);
          wire.send(frame.slice(0, -1));
        },
        failed: () => undefined,
        closed,
      });
    });
  } finally {
    await app.stop(true);
  }
  expect(received.map(decodeAnswers)).toEqual([[1, 2].map((number) => ({ number, answer: done }))]);
  expect(served).toEqual([call, call]);
  expect(errors).toEqual(["node sent a malformed frame; closing the connection"]);
});
