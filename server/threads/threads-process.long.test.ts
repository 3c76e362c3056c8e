// Behaviour that needs the process of a server with several threads: its end, a failed start, a
// disk that stalls, a backup, and API keys.

import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { whyUntraceable } from "../../proof/processes/strace.ts";
import { runServer, type ServerProcess, startServer } from "../../testing/server-process.ts";
import { newApiKey } from "../auth/api-keys.ts";
import {
  type Calls,
  callsTo,
  connectionCount,
  everywhere,
  queueOf,
  shardCount,
  shardFlags,
  shards,
} from "./testing/calls.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-threads-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const inFolder = (name: string): string => join(folder, name);

interface Started extends AsyncDisposable {
  readonly server: ServerProcess;
  readonly calls: Calls;
}

async function start(
  data: string,
  { flags = [], under = [] }: { flags?: readonly string[]; under?: readonly string[] } = {},
): Promise<Started> {
  const server = await startServer({ data, flags: [...shardFlags, ...flags], under });
  return {
    ...{ server, calls: callsTo(fetch, server.port) },
    [Symbol.asyncDispose]: async () => void (await server.stop("SIGKILL")),
  };
}

const timed = { request_timeout: "1m" };

test("stop: answers the waiting requests of every thread, and ends", async () => {
  const flags = ["--shutdown-timeout-ms", "600000"];
  await using started = await start(inFolder("stopped"), { flags });
  const { calls, server } = started;
  const waiting: Promise<readonly { code: number }[]>[] = [];
  for (const shard of shards) {
    const queue = queueOf(shard, "orders");
    await calls.createQueue(queue);
    waiting.push(everywhere((index) => calls.lease(queue, `client ${index}`)));
    const name = `holdfast_queue_waiting_leases{queue="${queue}"}`;
    while ((await calls.metric(name)) !== connectionCount) await Bun.sleep(5);
  }
  const stopped = server.stop();
  const codes = (await Promise.all(waiting)).flat().map(({ code }) => code);
  expect(codes).toEqual(Array.from({ length: shardCount * connectionCount }, () => 503));
  expect(await stopped).toBe(0);
  const log = await server.wholeLog();
  expect(log).toContain('"event":"stopped"');
  for (const level of ["error", "fatal"]) expect(log).not.toContain(`"level":"${level}"`);
});

/** Sends a produce without its last byte; `finish` sends that and returns the whole answer. */
async function upload(port: number, queue_name: string) {
  const body = JSON.stringify({ queue_name, items: [{ utf8: "x" }], ...timed });
  const head = [
    "POST /v1/queue.produce HTTP/1.1",
    `host: 127.0.0.1:${port}`,
    "content-type: application/json",
    `content-length: ${body.length}`,
    "connection: close",
  ];
  const ended = Promise.withResolvers<string>();
  const socket = connect(port, "127.0.0.1");
  let answer = "";
  socket.on("data", (bytes) => {
    answer += bytes.toString();
  });
  for (const event of ["close", "error"]) socket.on(event, () => ended.resolve(answer));
  socket.write(`${head.join("\r\n")}\r\n\r\n${body.slice(0, -1)}`);
  return {
    finish: () => {
      socket.write(body.slice(-1));
      return ended.promise;
    },
  };
}

test("stop: waits for requests that are still being received, in every thread", async () => {
  const flags = ["--shutdown-timeout-ms", "600000"];
  await using started = await start(inFolder("uploads"), { flags });
  const { calls, server } = started;
  const queue = queueOf(1, "orders");
  await calls.createQueue(queue);
  const uploads = await everywhere(() => upload(server.port, queue));
  // The request for the metrics is one of them.
  while ((await calls.metric("holdfast_requests_in_flight")) !== connectionCount + 1) {
    await Bun.sleep(5);
  }
  const stopped = server.stop();
  while (!server.log().includes('"event":"stopping"')) await Bun.sleep(5);
  await Bun.sleep(200);
  // One after the other, so that some threads finish before others.
  for (const { finish } of uploads) {
    expect(await finish()).toStartWith("HTTP/1.1 503 ");
    await Bun.sleep(20);
  }
  expect(await stopped).toBe(0);
});

test.each([
  ["throws", "planted; thrown", "health"],
  ["ends", "by itself", "backup"],
] as const)("a thread that %s ends the process, which says so", async (how, text, page) => {
  const preload = fileURLToPath(new URL("./testing/plant-faults.ts", import.meta.url));
  const under = ["env", `BUN_OPTIONS=--preload=${preload}`];
  const flags = ["--backups", inFolder(`backups-${how}`)];
  await using started = await start(inFolder(how), { flags, under });
  const { calls, server } = started;
  const queues = shards.map((shard) => queueOf(shard, "orders"));
  for (const queue of queues) await calls.createQueue(queue);
  const cutOff = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "answered",
      () => "cut off",
    );
  const waiting = queues.map((queue) => cutOff(calls.lease(queue, "a")));
  void cutOff(page === "backup" ? calls.call("../backup", {}) : calls.page(page));
  expect(await server.exited).toBe(70);
  expect(await Promise.all(waiting)).toEqual(queues.map(() => "cut off"));
  const lines = (await server.wholeLog()).trim().split("\n");
  const fatal = lines.filter((line) => line.includes('"level":"fatal"'));
  expect(fatal).toHaveLength(1);
  expect(fatal[0]).toMatch(
    new RegExp(`the thread of shards [13], [24] stopped; (error: )?${text}`),
  );
});

test("start: a damaged store of a thread is reported as by one thread, and no file is made", async () => {
  const outputs: string[] = [];
  for (const flags of [[], ["--test-clock"]]) {
    const data = inFolder(`damaged${flags.join("")}`);
    const started = await start(data, { flags });
    expect(await started.server.stop()).toBe(0);
    writeFileSync(join(data, "shard-1.db"), "x".repeat(8_192));
    const before = readdirSync(data).sort();
    const run = await runServer(["--data", data, "--port", "0", ...shardFlags, ...flags]);
    expect(run.code).toBe(2);
    expect(readdirSync(data).sort()).toEqual(before);
    outputs.push(run.output.replace(data, "data"));
  }
  const text = "the store's file is damaged; restore a backup; file is not a database";
  expect(outputs).toEqual(Array.from({ length: 2 }, () => `${text}; data folder 'data'\n`));
});

test("start: of two servers that start at once on the same data, one gets all of it", async () => {
  const data = inFolder("twice");
  for (let round = 0; round < 5; round += 1) {
    const both = await Promise.allSettled([start(data), start(data)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    for (const one of both) {
      if (one.status === "rejected")
        expect(String(one.reason)).toContain("the server ended with 3");
      else {
        expect((await one.value.calls.page("readyz")).code).toBe(200);
        expect(await one.value.server.stop()).toBe(0);
      }
    }
  }
});

describe.skipIf(process.platform !== "linux" || whyUntraceable() !== null)("traced", () => {
  test("start: a new store of a thread that cannot be opened leaves nothing", async () => {
    const data = inFolder("not/there/yet");
    const trace =
      "strace -f --seccomp-bpf -qq -o /dev/null -e trace=openat -e inject=openat:error=EIO";
    const under = [...trace.split(" "), "-P", join(data, "shard-1.db")];
    const text = `the store failed; unable to open database file; data folder '${data}'`;
    await expect(start(data, { under })).rejects.toThrow(text);
    expect(readdirSync(folder)).not.toContain("not");
  });

  const stalls = "delay_enter=3600000000";
  const fails = "error=EIO";

  /** From now on each sync of the log stalls or fails, until `end`. */
  async function disturb({ pid }: ServerProcess, log: string, how: typeof stalls | typeof fails) {
    const calls = `-e trace=fdatasync,fsync -e inject=fdatasync,fsync:${how}`;
    const command = ["strace", "-f", "-o", "/dev/null", ...calls.split(" "), "-P", log];
    const child = Bun.spawn([...command, "-p", String(pid)], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const attached = Promise.withResolvers<void>();
    const read = async (): Promise<void> => {
      // Reads to the end: strace also reports threads that start later, and would end if its output
      // were closed.
      for await (const bytes of child.stderr) {
        if (new TextDecoder().decode(bytes).includes("attached")) attached.resolve();
      }
    };
    void read();
    await attached.promise;
    return {
      end: async () => {
        child.kill("SIGKILL");
        await child.exited;
      },
    };
  }

  test.each(shards)(
    "a disk that stalls: other shards and deadlines continue; shard %p",
    async (shard) => {
      const data = inFolder(`stalled-${shard}`);
      await using started = await start(data);
      const { calls, server } = started;
      const queues = shards.map((each) => queueOf(each, "orders"));
      for (const queue of queues) {
        await calls.createQueue(queue);
        await calls.produce(queue, "before");
      }
      const [stalled = "", other = ""] = [queues[shard], queues[(shard + 1) % shardCount]];
      const disk = await disturb(server, join(data, `shard-${shard}.db-wal`), stalls);
      const produce = (queue_name: string, utf8: string) =>
        calls.call("queue.produce", { queue_name, request_timeout: "2s", items: [{ utf8 }] });
      const taken = produce(stalled, "taken");
      // A call of the same turn would share its outcome.
      while ((await calls.metric("holdfast_requests_in_flight")) < 2) await Bun.sleep(5);
      await Bun.sleep(100);
      const later = everywhere(() => produce(stalled, "late"));
      const asked = { queue_name: stalled, batch_size: 1, request_timeout: "2s" };
      const leases = everywhere((index) =>
        calls.call("queue.lease", { ...asked, client_id: `client ${index}` }),
      );
      for (const queue of queues.filter((one) => one !== stalled)) {
        const codes = (await everywhere(() => calls.produce(queue, "during"))).map(
          ({ code }) => code,
        );
        expect(new Set(codes)).toEqual(new Set([200]));
        expect((await calls.lease(queue, "a", { batch_size: 5 })).body.items).toHaveLength(5);
      }
      for (const page of ["livez", "readyz", "health", "metrics"]) {
        for (const { code } of await everywhere(() => calls.page(page))) expect(code).toBe(200);
      }
      // Items for the stalled shard wait in the outbox of the other.
      const outputs = [{ queue_name: stalled, items: [{ utf8: "sent" }] }];
      const sent = await calls.call("queue.transact", {
        ...timed,
        produce: [{ queue_name: other, items: [{ utf8: "here" }] }, ...outputs],
      });
      expect(sent).toMatchObject({ code: 200, body: { produced: [{}, { delivered: false }] } });
      expect(await taken).toMatchObject({ code: 504, body: { reason: "unknown_outcome" } });
      for (const { code, body } of await later) expect([code, body.reason]).toEqual([454, "late"]);
      for (const { code } of await leases) expect(code).toBe(454);
      await disk.end();
      expect(await produce(stalled, "after")).toMatchObject({ code: 200 });
      expect(await calls.arrived(stalled, 4)).toEqual(["after", "before", "sent", "taken"]);
      expect(await server.stop()).toBe(0);
    },
  );

  test("backup: waits for items in transit between other threads, and fails if they do not arrive", async () => {
    const data = inFolder("undelivered");
    const flags = ["--backups", inFolder("undelivered-backups")];
    await using started = await start(data, { flags });
    const { calls, server } = started;
    const [from, to] = [queueOf(1, "orders"), queueOf(2, "orders")];
    for (const queue of [from, to]) await calls.createQueue(queue);
    await calls.produce(to, "before");
    const disk = await disturb(server, join(data, "shard-2.db-wal"), stalls);
    const produce = [from, to].map((queue_name) => ({ queue_name, items: [{ utf8: "sent" }] }));
    const sent = await calls.call("queue.transact", { ...timed, produce });
    expect(sent).toMatchObject({ code: 200, body: { produced: [{}, { delivered: false }] } });
    const refused = await calls.call("../backup", {});
    expect(refused).toMatchObject({ code: 500, body: { reason: "backup_failed" } });
    expect(refused.body.message).toStartWith("items on their way to another shard do not arrive");
    await disk.end();
    expect(await calls.arrived(to, 2)).toEqual(["before", "sent"]);
    expect(await calls.call("../backup", {})).toMatchObject({ code: 200 });
    expect(await server.stop()).toBe(0);
  });

  test.each(shards)(
    "a disk that fails: only its shard is down until it recovers; shard %p",
    async (shard) => {
      const data = inFolder(`failed-${shard}`);
      await using started = await start(data);
      const { calls, server } = started;
      const queues = shards.map((each) => queueOf(each, "orders"));
      for (const queue of queues) await calls.createQueue(queue);
      const [failed = "", other = ""] = [queues[shard], queues[(shard + 1) % shardCount]];
      await calls.produce(failed, "before");
      const disk = await disturb(server, join(data, `shard-${shard}.db-wal`), fails);
      const produce = (queue_name: string, utf8: string) =>
        calls.call("queue.produce", { queue_name, request_timeout: "1s", items: [{ utf8 }] });
      const refused = await everywhere(() => produce(failed, "perhaps"));
      expect(refused.filter(({ code }) => code === 200)).toEqual([]);
      for (const { code } of await everywhere(() => calls.produce(other, "there"))) {
        expect(code).toBe(200);
      }
      const name = `holdfast_store_failures_total{shard="${shard}"}`;
      for (const failures of await everywhere(() => calls.metric(name))) {
        expect(failures).toBeGreaterThan(0);
      }
      for (const { code } of await everywhere(() => calls.page("livez"))) expect(code).toBe(200);
      await disk.end();
      while ((await calls.page("readyz")).code !== 200) await Bun.sleep(20);
      while ((await produce(failed, "after")).code !== 200) await Bun.sleep(20);
      const texts = new Set(await calls.textsIn(failed));
      texts.delete("perhaps");
      expect(texts).toEqual(new Set(["after", "before"]));
      expect(await server.stop()).toBe(0);
    },
  );
});

test("backup: contains items in transit between shards exactly once", async () => {
  const data = inFolder("data");
  const queues = shards.map((shard) => queueOf(shard, "orders"));
  const texts: string[] = [];
  const made: string[] = [];
  {
    await using started = await start(data, { flags: ["--backups", inFolder("backups")] });
    const { calls, server } = started;
    for (const queue of queues) await calls.createQueue(queue);
    let isOver = false;
    /** Each round sends one parcel to each of the other shards, all or none. */
    const send = async (from: number): Promise<void> => {
      for (let round = 0; !isOver; round += 1) {
        const text = `${from}.${round}`;
        const produce = queues.map((queue_name) => ({ queue_name, items: [{ utf8: text }] }));
        // The first queue determines the shard that performs the call.
        const ordered = [...produce.slice(from), ...produce.slice(0, from)];
        const { code } = await calls.call("queue.transact", { ...timed, produce: ordered });
        expect(code).toBe(200);
        texts.push(text);
      }
    };
    const sending = shards.map(send);
    for (let count = 0; count < 6; count += 1) {
      const known = texts.length;
      while (texts.length < known + shardCount) await Bun.sleep(1);
      const { code, body } = await calls.call("../backup", {});
      expect([code, body.shards?.length]).toEqual([200, shardCount]);
      made.push(body.folder);
    }
    isOver = true;
    await Promise.all(sending);
    for (const queue of queues) {
      expect(await calls.arrived(queue, texts.length)).toEqual(texts.toSorted());
    }
    expect(await server.stop()).toBe(0);
  }
  for (const [index, from] of made.entries()) {
    const restored = inFolder(`restored-${index}`);
    cpSync(from, restored, { recursive: true });
    rmSync(join(restored, "backup.json"));
    await using started = await start(restored);
    const { calls, server } = started;
    // Some items may still be in transit, but each is in the queue of the sending shard.
    const all = [...new Set((await Promise.all(queues.map(calls.textsIn))).flat())].toSorted();
    expect(all.length).toBeGreaterThan(0);
    for (const queue of queues) expect(await calls.arrived(queue, all.length)).toEqual(all);
    expect(await server.stop()).toBe(0);
  }
});

test("API keys: a limited key sees its own queues in every thread, and all uses are counted", async () => {
  const mine = shards.map((shard) => queueOf(shard, "mine"));
  const other = shards.map((shard) => queueOf(shard, "other"));
  const keys = {
    admin: newApiKey("admin", { roles: ["admin"], queues: ["*"] }),
    viewer: newApiKey("viewer", { roles: ["read", "produce"], queues: ["mine*"] }),
  };
  const path = inFolder("keys");
  writeFileSync(
    path,
    Object.values(keys)
      .map(({ line }) => `${line}\n`)
      .join(""),
  );
  await using started = await start(inFolder("keyed"), { flags: ["--api-keys-file", path] });
  const { port } = started.server;
  const by = ({ key }: { key: string }) => callsTo(fetch, port, { authorization: `Bearer ${key}` });
  const [admin, viewer, nobody] = [by(keys.admin), by(keys.viewer), callsTo(fetch, port)];
  for (const queue of [...mine, ...other]) {
    await admin.createQueue(queue);
    await admin.produce(queue, "x");
  }
  const bare = await everywhere(() => nobody.call("queues.list", { pivot: "", limit: 10 }));
  expect(new Set(bare.map(({ code }) => code))).toEqual(new Set([401]));
  for (const { body } of await everywhere(() =>
    viewer.call("queues.list", { pivot: "", limit: 10 }),
  ))
    expect(body.items.map(({ queue_name }: never) => queue_name)).toEqual(mine.toSorted());
  let seen = (await admin.call("server.overview", {})).body.queues.queue_name;
  while (seen.length < 2 * shardCount)
    seen = (await admin.call("server.overview", {})).body.queues.queue_name;
  for (const { body } of await everywhere(() => viewer.call("server.overview", {}))) {
    expect(body.queues.queue_name.toSorted()).toEqual(mine.toSorted());
    expect(body.totals.ready).toBe(shardCount);
  }
  for (const { body } of await everywhere(() => viewer.call("server.whoami", {})))
    expect(body).toMatchObject({ name: "viewer", keys_required: true });
  for (const queue of other) {
    const refused = await everywhere(() => viewer.produce(queue, "y"));
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set([403]));
    const { body } = await admin.call("storage/items.find", { queue_name: queue, limit: 1 });
    const [{ id }] = body.items;
    const unseen = await everywhere(() => viewer.call("storage/items.get", { id }));
    expect(new Set(unseen.map((reply) => reply.body.reason))).toEqual(new Set(["no_such_item"]));
  }
  for (const { code } of await everywhere(() => viewer.call("server.keys", {})))
    expect(code).toBe(403);
  // Each thread counted its own denied calls: those of each queue, and that of the list of keys.
  const deniedCount = (shardCount + 1) * connectionCount;
  for (const { body } of await everywhere(() => admin.call("server.keys", {}))) {
    expect(body.items).toMatchObject([
      { name: "admin" },
      { name: "viewer", denied_calls: deniedCount },
    ]);
  }
  for (const { body } of await everywhere(() => admin.call("actions.list", { limit: 1_000 }))) {
    const made = body.items.filter(({ operation }: never) => operation === "createQueue");
    expect(made.map(({ queue_name }: never) => queue_name).sort()).toEqual(
      [...mine, ...other].sort(),
    );
    expect(new Set(made.map(({ key_name }: never) => key_name))).toEqual(new Set(["admin"]));
  }
});
