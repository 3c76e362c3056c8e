// The machine's clock jumps ahead, as after a suspend: what is due by then happens without a call.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../../../testing/server-process.ts";

const hasFaketime = Bun.which("faketime") !== null;
const minute = 60_000;
const settings = {
  ...{ lease_timeout: "10m", expire_timeout: "24h", max_attempts: 0, requested_partitions: 1 },
};
const expiring = { expire_timeout: "10m", dead_queue: "dead" };

test.skipIf(!hasFaketime)(
  "clients that wait are served when the clock jumps: due, lapsed, expired and in time",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "holdfast-jump-"));
    const offset = join(directory, "offset");
    const jumpTo = (text: string) => writeFileSync(offset, `${text}\n`);
    jumpTo("+0h");
    // The settings of `faketime`, without its wrapper process. Timeouts use the real clock.
    const under = [
      "env",
      "LD_PRELOAD=/usr/$LIB/faketime/libfaketimeMT.so.1",
      "FAKETIME_DONT_FAKE_MONOTONIC=1",
      "FAKETIME_NO_CACHE=1",
      `FAKETIME_TIMESTAMP_FILE=${offset}`,
    ];
    const server = await startServer({ data: join(directory, "data"), under });
    try {
      const base = `http://127.0.0.1:${server.port}`;
      const call = async (path: string, body: object) => {
        const headers = { "content-type": "application/json" };
        const answer = await fetch(base + path, {
          method: "POST",
          headers,
          body: JSON.stringify(body),
        });
        const read = { status: answer.status, body: await answer.json() };
        expect([path, read.status]).toEqual([path, read.status === 454 ? 454 : 200]);
        return read;
      };
      const wait = (queue_name: string, request_timeout: string) =>
        call("/v1/queue.lease", { queue_name, client_id: "c", batch_size: 1, request_timeout });
      const produce = (queue_name: string, utf8: string, more = {}) =>
        call("/v1/queue.produce", {
          queue_name,
          request_timeout: "1m",
          items: [{ utf8, ...more }],
        });
      const queues = { dead: {}, due: {}, lapses: {}, empty: {}, expires: expiring };
      for (const [queue_name, more] of Object.entries(queues)) {
        await call("/v1/queues.create", { queue_name, ...settings, ...more });
      }
      await produce("due", "due", { enqueue_at: new Date(Date.now() + 10 * minute).toISOString() });
      await produce("lapses", "lapsed");
      await wait("lapses", "1m");
      const waiting = ["due", "lapses", "dead"].map((name) => wait(name, "15m"));
      const empty = wait("empty", "5m");
      await produce("expires", "expired");
      for (const name of ["due", "lapses", "dead", "empty"]) {
        const line = async () => (await call("/v1/queue.clients", { queue_name: name })).body;
        while ((await line()).waiting_count === 0) await Bun.sleep(10);
      }
      jumpTo("+12m");
      expect((await empty).status).toBe(454);
      const replies = await Promise.all(waiting);
      const texts = replies.map(({ body }) => body.items?.[0]?.bytes ?? "");
      expect(texts.map((text) => Buffer.from(text, "base64").toString())).toEqual([
        "due",
        "lapsed",
        "expired",
      ]);
    } finally {
      await server.stop("SIGKILL");
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
