// A client behind HAProxy, as in `deploy/`, that hangs up while its lease waits.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listeningApp } from "../testing/listening-app.ts";
import { haproxyPath, startBalancer } from "./testing/balancer.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-hung-up-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.skipIf(haproxyPath === null)(
  "a lease whose client hung up behind the balancer leaves the line, and is granted no item",
  async () => {
    await using server = await listeningApp();
    const port = Number(new URL(server.url).port);
    const balancer = await startBalancer(folder, [port, port, port]);
    try {
      const { url } = server;
      const call = (base: string, path: string, body: object, signal?: AbortSignal) =>
        fetch(`${base}/v1/${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ queue_name: "orders", ...body }),
          ...(signal && { signal }),
        });
      await call(url, "queues.create", { lease_timeout: "1m", expire_timeout: "1h" });
      const waitUntil = async (isReached: (names: readonly string[]) => boolean) => {
        for (;;) {
          const { waiting } = await (await call(url, "queue.clients", {})).json();
          const names = waiting.map(({ client_id }: { client_id: string }) => client_id);
          if (isReached(names)) return names;
          await Bun.sleep(10);
        }
      };
      const lease = { request_timeout: "20s", batch_size: 1 };
      // This lease starts first, so its deadline is before that of the other one.
      const alive = call(url, "queue.lease", { ...lease, client_id: "alive" });
      await waitUntil((names) => names.includes("alive"));
      const leaving = new AbortController();
      const proxy = `http://127.0.0.1:${balancer.port}`;
      const request = { ...lease, client_id: "gone" };
      const gone = call(proxy, "queue.lease", request, leaving.signal).catch(() => null);
      await waitUntil((names) => names.includes("gone"));
      leaving.abort();
      await gone;
      expect(await waitUntil((names) => !names.includes("gone"))).toEqual(["alive"]);
      await call(url, "queue.produce", { request_timeout: "1m", items: [{ utf8: "a" }] });
      expect((await (await alive).json()).items).toHaveLength(1);
    } finally {
      await balancer.stop();
    }
  },
  60_000,
);
