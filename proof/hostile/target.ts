// The attacked server, in its own process: checks that it still works, and reads the resources that it holds.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Connection } from "../../testing/http-client.ts";
import { startServer } from "../../testing/server-process.ts";

/** The resources that a server holds. */
export interface Holdings {
  readonly memoryBytes: number;
  /** 0 if the system does not report it. */
  readonly descriptors: number;
  readonly waitingLeases: number;
  readonly requestsInFlight: number;
  readonly bodyBytes: number;
}

export interface Target extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  /** Produces, leases and completes an item of its own; returns the milliseconds it took. */
  canary(): Promise<number>;
  holdings(): Promise<Holdings>;
  create(queue: string): Promise<void>;
  /** Items in a queue. */
  stored(queue: string): Promise<number>;
  /** Waits until it has released everything. Returns the resources that it still holds after that. */
  settled(baseline: Holdings): Promise<string[]>;
  /** Its log. */
  log(): string;
}

/** Longer than any connection timeout. */
const settleMs = 90_000;
const pollMs = 100;
/** Between two garbage collections, the bodies of 10 MB in the corpus move memory by 100 MB. */
const memoryGrowthBytesMax = 256 * 1024 * 1024;
const descriptorsSlack = 2;

export async function openTarget(flags: readonly string[] = []): Promise<Target> {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-hostile-"));
  const server = await startServer({ data: join(directory, "data"), flags });
  const { port, pid } = server;
  const call = async (path: string, body: object) => {
    const connection = await Connection.open(port);
    try {
      const { status, body: text } = await connection.post(path, JSON.stringify(body));
      if (status !== 200) throw new Error(`${path} was answered ${status}; ${text}`);
      return JSON.parse(text);
    } finally {
      connection.close();
    }
  };
  const definition = { lease_timeout: "60m", expire_timeout: "24h" };
  const create = async (queue_name: string): Promise<void> => {
    await call("/v1/queues.create", { queue_name, ...definition });
  };
  for (const queue of ["canary", "orders", "large"]) await create(queue);

  const holdings = async (): Promise<Holdings> => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics`, {
      headers: { connection: "close" },
    });
    const text = await response.text();
    const gauge = (name: string) => Number(new RegExp(`^${name} (\\d+)`, "m").exec(text)?.[1]);
    return {
      memoryBytes: gauge("process_resident_memory_bytes"),
      descriptors: descriptorsOf(pid),
      waitingLeases: gauge("holdfast_waiting_leases"),
      // The metrics request itself is in flight.
      requestsInFlight: gauge("holdfast_requests_in_flight") - 1,
      bodyBytes: gauge("holdfast_request_body_bytes"),
    };
  };

  return {
    ...{ port, pid, create },
    async stored(queue_name) {
      const { queued, scheduled } = await call("/v1/queue.inspect", { queue_name });
      return queued + scheduled;
    },
    log: () => server.log(),
    holdings,
    async canary() {
      const started = performance.now();
      const timed = { queue_name: "canary", request_timeout: "1m" };
      const payload = `sings at ${started}`;
      await call("/v1/queue.produce", { ...timed, items: [{ utf8: payload }] });
      const { items, partition } = await call("/v1/queue.lease", { ...timed, client_id: "canary" });
      const [item] = items;
      if (atob(item.bytes) !== payload) throw new Error("the canary was leased another item");
      await call("/v1/queue.complete", { ...timed, partition, ids: [item.id] });
      return performance.now() - started;
    },
    async settled(baseline) {
      const deadline = performance.now() + settleMs;
      for (;;) {
        const kept = keptSince(baseline, await holdings());
        if (kept.length === 0 || performance.now() > deadline) return kept;
        await Bun.sleep(pollMs);
      }
    },
    async [Symbol.asyncDispose]() {
      await server.stop("SIGKILL");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function keptSince(baseline: Holdings, now: Holdings): string[] {
  const kept: string[] = [];
  const growth = now.memoryBytes - baseline.memoryBytes;
  if (growth > memoryGrowthBytesMax) kept.push(`memory grew by ${growth} bytes`);
  if (now.descriptors > baseline.descriptors + descriptorsSlack) {
    kept.push(`descriptors grew from ${baseline.descriptors} to ${now.descriptors}`);
  }
  for (const gauge of ["waitingLeases", "requestsInFlight", "bodyBytes"] as const) {
    if (now[gauge] !== 0) kept.push(`${gauge} is ${now[gauge]}`);
  }
  return kept;
}

function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}
