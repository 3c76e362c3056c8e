// `bun bench/hop.ts [--turns 20]`: processor time, of both threads together, of a call to another
// thread and back, by the number of calls per round. Two floors are measured in turn with it: texts
// of the same length, and the calls as a list of objects without call client and call server.

import { parseArgs } from "node:util";
import type { Answer, Call } from "../server/calls/call.ts";
import { CallClient } from "../server/calls/call-client.ts";
import { CallServer } from "../server/calls/call-server.ts";
import { createLog } from "../server/observability/log.ts";
import { median } from "./report/statistics.ts";

const ways = ["text alone", "objects alone", "hop"] as const;
type Way = (typeof ways)[number];

const callsPerRound = [1, 4, 16, 64] as const;
const callsPerTurn = 8_000;
/** Warm-up turns. */
const warmUps = 3;

const bodyLength = 170;
const replyLength = 40;
/** A frame also contains numbers, lengths and the operation. */
const callLength = bodyLength + 22;
const answerLength = replyLength + 10;

/** Distinct objects, because a structured clone contains the same object only once. */
const calls = Array.from({ length: Math.max(...callsPerRound) }, (_, index): Call => {
  const body = JSON.stringify({ queue_name: "orders", items: [{ utf8: "x".repeat(102) }], index });
  return { operation: "produce", shard: null, body: body.padEnd(bodyLength), requestKey: null };
});
const answers = calls.map((_, index): Answer => {
  const text = JSON.stringify({ code: 200, index }).padEnd(replyLength);
  return { is: "done", text, isReplayed: false };
});

type Round = (clients: readonly AbortController[]) => Promise<unknown>;

if (Bun.isMainThread) await measure();
else self.onmessage = ({ data }: MessageEvent<Way>) => serve(data);

async function measure(): Promise<void> {
  const options = { turns: { type: "string", default: "20" } } as const;
  const turns = Number(parseArgs({ options }).values.turns);
  const sides = await Promise.all(
    ways.map(async (way) => ({
      way,
      round: await roundBy(way),
      found: new Map<number, number[]>(),
    })),
  );
  for (let turn = -warmUps; turn < turns; turn += 1) {
    for (const count of callsPerRound) {
      for (const { round, found } of turn % 2 === 0 ? sides : sides.toReversed()) {
        const microseconds = await takeTurn(round, count);
        if (turn >= 0) found.getOrInsertComputed(count, () => []).push(microseconds);
      }
    }
  }
  const lengths = `${bodyLength} bytes there and ${replyLength} back`;
  console.log(`microseconds per call, ${lengths}, by calls per round: median (minimum)`);
  for (const { way, found } of sides) {
    const figures = [...found].map(
      ([count, all]) => `${count}: ${median(all).toFixed(2)} (${Math.min(...all).toFixed(2)})`,
    );
    console.log(`${way.padEnd(14)}${figures.join("   ")}`);
  }
  process.exit(0);
}

async function takeTurn(round: Round, count: number): Promise<number> {
  const rounds = Array.from({ length: callsPerTurn / count }, () =>
    Array.from({ length: count }, () => new AbortController()),
  );
  const before = process.cpuUsage();
  for (const clients of rounds) await round(clients);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / callsPerTurn;
}

async function roundBy(way: Way): Promise<Round> {
  const thread = new Worker(import.meta.url);
  const heard = () =>
    new Promise((resolve) => {
      thread.onmessage = resolve;
    });
  const ready = heard();
  thread.postMessage(way);
  await ready;
  switch (way) {
    case "text alone": {
      const one = "x".repeat(callLength);
      return ({ length }) => {
        const answered = heard();
        // A new text, like each frame.
        thread.postMessage(one.repeat(length));
        return answered;
      };
    }
    case "objects alone":
      return (clients) => {
        const answered = heard();
        thread.postMessage(clients.map((_, number) => ({ number, call: calls[number] })));
        return answered;
      };
    case "hop": {
      const callClient = new CallClient((frame) => thread.postMessage(frame));
      thread.onmessage = ({ data }) => callClient.receive(data);
      callClient.open();
      return (clients) =>
        Promise.all(clients.map((client, index) => callClient.call(calls[index] as Call, client)));
    }
  }
}

function serve(way: Way): void {
  let last = 0;
  const callServer = new CallServer({
    answer: async () => {
      last = (last + 1) % answers.length;
      return answers[last] as Answer;
    },
    send: (frame) => postMessage(frame),
    log: createLog({ level: "error" }),
  });
  const one = "x".repeat(answerLength);
  const serving = {
    "text alone": (data: string) => postMessage(one.repeat(data.length / callLength)),
    "objects alone": (data: readonly object[]) =>
      postMessage(data.map((_, number) => ({ number, answer: answers[number] }))),
    hop: (data: string) => callServer.receive(data),
  };
  const act = serving[way] as (data: unknown) => void;
  self.onmessage = ({ data }) => act(data);
  postMessage("ready");
}
