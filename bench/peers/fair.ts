// A fair queue: items have groups, and each lease should serve another group. Peers without turns
// of groups emulate them with priorities: `round` is the number of earlier items of the group.

import type { QueueCreateRequest } from "../../openapi/schemas.ts";
import manifest from "../../package.json" with { type: "json" };
import { Connection } from "../../testing/http-client.ts";
import { startServer } from "../../testing/server-process.ts";
import { createQueue } from "../load/calls.ts";
import { bullmq, startBullmq } from "./bullmq.ts";
import { payloadOf } from "./peer.ts";
import { type Boss, pgBoss, startPgBoss } from "./pg-boss.ts";

export interface FairItem {
  readonly number: number;
  readonly group: string;
  readonly round: number;
}

export interface FairLease {
  readonly payload: string;
  complete(): Promise<unknown>;
}

export interface FairSession {
  produce(items: readonly FairItem[]): Promise<unknown>;
  /** One item; `null` = none at the moment. */
  lease(): Promise<FairLease | null>;
  close(): Promise<unknown>;
}

export interface FairPeer {
  readonly name: string;
  /** What makes its leases fair, and what an answer promises. */
  readonly settings: string;
  install(scratch: string): Promise<void>;
  /** Called on an empty folder, which is removed after `stop`. */
  start(scratch: string): Promise<RunningFair>;
}

export interface RunningFair {
  readonly version: string;
  /** Creates a queue, and the sessions that work on it. */
  open(queue: string, sessions: number): Promise<FairSession[]>;
  stop(): Promise<unknown>;
}

export function sessionsOf(
  count: number,
  open: (index: number) => Promise<FairSession>,
): Promise<FairSession[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => open(index)));
}

async function holdfastSession(port: number, queue: string, index: number): Promise<FairSession> {
  const connection = await Connection.open(port);
  const client_id = `client-${index}`;
  const lease = { queue_name: queue, client_id, request_timeout: "1s", batch_size: 1 };
  return {
    produce: (items) =>
      connection.call("/v1/queue.produce", {
        queue_name: queue,
        request_timeout: "1m",
        items: items.map(({ number, group }) => ({ utf8: payloadOf(number), group })),
      }),
    lease: async () => {
      const { status, body } = await connection.post("/v1/queue.lease", JSON.stringify(lease));
      if (status === 454) return null;
      if (status !== 200) throw new Error(`lease answered ${status}; ${body}`);
      const { partition, items } = JSON.parse(body);
      const [{ id, bytes }] = items;
      const request = { queue_name: queue, partition, request_timeout: "1m", ids: [id] };
      return {
        payload: atob(bytes),
        complete: () => connection.call("/v1/queue.complete", request),
      };
    },
    close: async () => connection.close(),
  };
}

function holdfastWith(
  name: string,
  settings: string,
  queueSettings: Partial<QueueCreateRequest>,
): FairPeer {
  return {
    name,
    settings: `${settings}; SQLite, --durability full: synced before every answer`,
    install: async () => undefined,
    start: async (scratch) => {
      const server = await startServer({
        data: scratch,
        flags: ["--durability", "full", "--log-level", "error"],
      });
      return {
        version: manifest.version,
        open: async (queue, sessions) => {
          await createQueue(server.port, queue, { grouped: true, ...queueSettings });
          return await sessionsOf(sessions, (index) => holdfastSession(server.port, queue, index));
        },
        stop: () => server.stop(),
      };
    },
  };
}

const fairBullmq: FairPeer = {
  name: "BullMQ",
  settings:
    "priority = round, as its groups are not in the free version; " +
    "Redis, appendfsync always: synced before every answer",
  install: bullmq.install,
  start: async (scratch) => {
    const { version, module, options, stop } = await startBullmq(scratch);
    return {
      version,
      stop,
      open: (name, sessions) =>
        sessionsOf(sessions, async (index) => {
          const queue = new module.Queue(name, options);
          const worker = new module.Worker(name, null, options);
          worker.on("error", () => undefined);
          await queue.waitUntilReady();
          const token = `client-${index}`;
          return {
            produce: (items) =>
              queue.addBulk(
                items.map(({ number, round }) => ({
                  name: "item",
                  data: { p: payloadOf(number) },
                  // 0 is its highest, and has another list.
                  opts: { removeOnComplete: true, priority: round + 1 },
                })),
              ),
            lease: async () => {
              const item = await worker.getNextJob(token, { block: false });
              if (item === undefined) return null;
              return {
                payload: item.data.p,
                complete: () => item.moveToCompleted(null, token, false),
              };
            },
            close: () => Promise.all([worker.close(true), queue.close()]),
          };
        }),
    };
  },
};

function pgBossSession(boss: Boss, queue: string, fetching: object): FairSession {
  return {
    produce: (items) =>
      boss.insert(
        queue,
        items.map(({ number, group, round }) => ({
          data: { p: payloadOf(number) },
          priority: -round,
          ...("groupConcurrency" in fetching && { group: { id: group } }),
        })),
      ),
    lease: async () => {
      const [fetched] = await boss.fetch(queue, { batchSize: 1, ...fetching });
      if (fetched === undefined) return null;
      return {
        payload: fetched.data.p,
        complete: () => boss.complete(queue, [fetched.id]),
      };
    },
    close: async () => undefined,
  };
}

function pgBossWith(name: string, settings: string, fetching: object): FairPeer {
  return {
    name,
    settings: `${settings}; PostgreSQL with stock settings: synced before every answer`,
    install: pgBoss.install,
    start: async (scratch) => {
      const { boss, version, stop } = await startPgBoss(scratch);
      return {
        version,
        stop,
        open: async (queue, sessions) => {
          await boss.createQueue(queue, { retryLimit: 0 });
          return await sessionsOf(sessions, async () => pgBossSession(boss, queue, fetching));
        },
      };
    },
  };
}

export const fairPeers: readonly FairPeer[] = [
  holdfastWith("Holdfast", "groups", {}),
  holdfastWith("Holdfast, one of a group at a time", "groups, group_leased_max 1", {
    group_leased_max: 1,
  }),
  fairBullmq,
  pgBossWith("pg-boss", "priority = -round", {}),
  pgBossWith("pg-boss, one of a group at a time", "priority = -round, groupConcurrency 1", {
    groupConcurrency: 1,
  }),
];
