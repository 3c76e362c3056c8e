// The shard threads as seen by the main thread: their port, their certificate, their share of the
// limits, and their end.

import { expect, test } from "bun:test";
import { connect } from "node:tls";
import { freePort } from "../../testing/child-server.ts";
import { ListenError, type Listening } from "../http/connections/listen.ts";
import {
  renewedCertificate,
  renewedKey,
  sampleCertificate,
  sampleKey,
} from "../testing/tls-sample.ts";
import {
  callsTo,
  connectionCount,
  everywhere,
  queueOf,
  shards,
  timeouts,
} from "./testing/calls.ts";
import { openThreads } from "./testing/open-threads.ts";

const portOf = ({ url }: Listening): number => Number(new URL(url).port);

/** Listens with its own threads, which end if the port is refused. */
async function listenAt(host: string, port: number) {
  const opened = await openThreads({ config: { host, port } });
  try {
    const listening = await opened.listen();
    return {
      listening,
      end: async () => {
        await listening.stop(0);
        await opened.close();
      },
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

const refusalAt = (host: string, port: number): Promise<unknown> =>
  listenAt(host, port).catch((error: unknown) => error);

test("listen: fails if the threads are refused the port", async () => {
  const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  expect(await refusalAt("127.0.0.1", Number(other.port))).toBeInstanceOf(ListenError);
  await other.stop();
});

test("listen: if one thread is refused the port, none listens afterwards", async () => {
  const port = freePort();
  await using opened = await openThreads({ config: { port } });
  // The main thread does not share its port, so the others cannot bind it.
  const refused = await opened.listen(null, false).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ListenError);
  expect(refused).toMatchObject({
    ...{ fault: "taken", code: "EADDRINUSE", host: "127.0.0.1", port },
    message: `port is in use; another program listens on 127.0.0.1:${port}`,
  });
  const again = await opened.listen();
  const { code } = await callsTo(fetch, port).page("readyz");
  expect(code).toBe(200);
  await again.stop(0);
  expect(opened.broken).toEqual([]);
});

test.skipIf(process.platform !== "linux")(
  "listen: a port that is taken on one address is free on another, and refused on all addresses",
  async () => {
    const port = freePort();
    const one = await listenAt("127.0.0.1", port);
    const beside = await listenAt("127.0.0.2", port);
    for (const host of ["127.0.0.1", "127.0.0.2", "0.0.0.0"]) {
      expect(await refusalAt(host, port)).toMatchObject({ fault: "taken" });
    }
    for (const { end } of [one, beside]) await end();
    // Of two simultaneous starts, the second is refused, even on all addresses.
    for (const host of ["127.0.0.1", "0.0.0.0"]) {
      const both = await Promise.allSettled([listenAt("127.0.0.1", port), listenAt(host, port)]);
      expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
      for (const done of both) if (done.status === "fulfilled") await done.value.end();
    }
  },
);

/** The certificate that a new connection receives. */
function shown(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => {
      const { raw } = socket.getPeerCertificate();
      socket.destroy();
      resolve(raw.toString("base64"));
    });
    socket.on("error", reject);
  });
}

function base64Of(pem: string): string {
  return pem.replaceAll(/-----[A-Z ]+-----|\s/g, "");
}

test("renew: every thread presents the new certificate, and waiting requests are answered", async () => {
  await using opened = await openThreads();
  const listening = await opened.listen({ cert: sampleCertificate, key: sampleKey });
  const port = portOf(listening);
  const post = async (path: string, body: object) => {
    const response = await fetch(`https://127.0.0.1:${port}/v1/${path}`, {
      ...{ method: "POST", body: JSON.stringify(body), tls: { rejectUnauthorized: false } },
      headers: { "content-type": "application/json", connection: "close" },
    });
    return await response.json();
  };
  const queue_name = queueOf(1, "orders");
  await post("queues.create", { queue_name, ...timeouts });
  const timed = { queue_name, request_timeout: "5m" };
  const lease = (client_id: string) => post("queue.lease", { ...timed, client_id, batch_size: 1 });
  const waiting = everywhere((index) => lease(`client ${index}`));
  const lineLength = async () => (await post("queue.clients", { queue_name })).waiting.length;
  while ((await lineLength()) < connectionCount) await Bun.sleep(5);
  const former = await everywhere(() => shown(port));
  expect(new Set(former)).toEqual(new Set([base64Of(sampleCertificate)]));
  listening.renew({ cert: renewedCertificate, key: renewedKey });
  const renewed = base64Of(renewedCertificate);
  // The other threads use the new certificate a moment later.
  while (!(await everywhere(() => shown(port))).every((one) => one === renewed)) await Bun.sleep(5);
  const items = Array.from({ length: connectionCount }, () => ({ utf8: "x" }));
  await post("queue.produce", { ...timed, items });
  for (const reply of await waiting) expect(reply.items).toHaveLength(1);
  await listening.stop(5_000);
  expect(opened.broken).toEqual([]);
});

test("the threads together run as many requests as the server's limit", async () => {
  await using opened = await openThreads({ config: { connectionsMax: 6 } });
  const listening = await opened.listen();
  const calls = callsTo(fetch, portOf(listening));
  const queue = queueOf(2, "orders");
  await calls.createQueue(queue);
  const controller = new AbortController();
  const { signal } = controller;
  const codes: number[] = [];
  const asked = Array.from({ length: 60 }, async (_, index) => {
    const { code } = await calls.lease(queue, `client ${index}`, { signal });
    codes.push(code);
  });
  const ended = Promise.allSettled(asked);
  while (codes.length < 54) await Bun.sleep(5);
  await Bun.sleep(100);
  expect(codes).toEqual(Array.from({ length: 54 }, () => 429));
  controller.abort();
  await ended;
  while ((await calls.page("readyz")).code !== 200) await Bun.sleep(5);
  await listening.stop(0);
});

test("every thread accepts a large body, even if it exceeds a third of the limit", async () => {
  const config = { bodiesMax: 6_000_000, produceBodyMax: 5_000_000 };
  await using opened = await openThreads({ config });
  const listening = await opened.listen();
  const calls = callsTo(fetch, portOf(listening));
  for (const shard of shards) {
    const queue = queueOf(shard, "orders");
    await calls.createQueue(queue);
    const codes: number[] = [];
    for (let count = 0; count < connectionCount / 3; count += 1) {
      codes.push((await calls.produce(queue, "x".repeat(4_000_000))).code);
    }
    expect(new Set(codes)).toEqual(new Set([200]));
  }
  await listening.stop(0);
});

const failing = { module: new URL("./testing/failing.worker.ts", import.meta.url) };
const file = /\(\S+failing\.worker\.ts:\d+:\d+\)/.source;

test.each([
  ["throws an error", "status", `error: planted; thrown at .* ${file}`],
  ["has an error that nothing catches", "figures", `error: planted; rejected at .* ${file}`],
  ["ends", "hold", "by itself"],
] as const)("a thread that %s is reported once, with what it was", async (_, fault, text) => {
  const { threads, broken, isBroken } = await openThreads(failing);
  const asked: Record<typeof fault, () => Promise<unknown>> = {
    status: () => threads.status(),
    figures: () => threads.keys([]),
    hold: () => threads.backup("/none"),
  };
  asked[fault]().catch(() => undefined);
  await isBroken;
  const whole = new RegExp(`^the thread of shards [13], [24] stopped; ${text}$`);
  expect(broken).toEqual([expect.stringMatching(whole)]);
  // The thread's shard counts as down; a server process would exit.
  expect((await threads.status()).shards.some(({ up }) => !up)).toBe(true);
  threads.terminate();
  expect(broken).toHaveLength(1);
});

test("status: a thread that does not answer does not delay the report of the others", async () => {
  const module = new URL("./testing/silent.worker.ts", import.meta.url);
  await using opened = await openThreads({ module });
  const listening = await opened.listen();
  const calls = callsTo(fetch, portOf(listening));
  await calls.createQueue(queueOf(0, "orders"));
  const { shards } = await opened.threads.status();
  expect(shards.map(({ shard, up, commits }) => [shard, up, commits > 0])).toEqual([
    [0, true, true],
    ...[1, 2, 3, 4].map((shard) => [shard, false, false]),
  ]);
  await listening.stop(0);
});
