// RabbitMQ with a quorum queue of one member: publishes are confirmed once synced, acknowledgements
// are never confirmed.

import { join } from "node:path";
import { type ChildServer, folderOf, freePort, startChild } from "../../testing/child-server.ts";
import { debianPackage, debianVersion, loadPackage, npmPackages } from "../../testing/install.ts";
import { type Ledger, type Peer, type QueueWork, type Session, usualConnections } from "./peer.ts";

const clientVersion = "2.3.1";
const user = "rabbitmq";
const program = "/usr/lib/rabbitmq/bin/rabbitmq-server";
/** With one item per call, a consumer prefetches the next ones. */
const prefetchMin = 16;

interface Delivery {
  readonly content: Buffer;
}

interface Channel {
  assertQueue(name: string, options: object): Promise<unknown>;
  prefetch(count: number): Promise<unknown>;
  publish(exchange: string, key: string, content: Buffer, options: object): boolean;
  waitForConfirms(): Promise<void>;
  consume(queue: string, listener: (delivery: Delivery | null) => void): Promise<unknown>;
  ack(delivery: Delivery, allUpTo: boolean): void;
  close(): Promise<void>;
}

interface AmqpConnection {
  on(event: "error", listener: (cause: Error) => void): void;
  createConfirmChannel(): Promise<Channel>;
  close(): Promise<void>;
}

interface AmqpModule {
  connect(url: string): Promise<AmqpConnection>;
}

let folder = "";

async function consume(channel: Channel, work: QueueWork, ledger: Ledger): Promise<void> {
  const failed = Promise.withResolvers<never>();
  let last: Delivery | null = null;
  let held = 0;
  let acknowledged = 0;
  const flush = (): void => {
    if (last !== null) channel.ack(last, true);
    acknowledged += held;
    held = 0;
    last = null;
  };
  await channel.prefetch(Math.max(prefetchMin, 2 * work.itemsPerCall));
  await channel.consume(work.queue, (delivery) => {
    if (delivery === null || !ledger.wanted) return;
    try {
      ledger.leased(delivery.content.toString("latin1"));
    } catch (cause) {
      failed.reject(cause);
    }
    last = delivery;
    held += 1;
    if (held >= work.itemsPerCall) flush();
  });
  await Promise.race([ledger.allLeased, failed.promise]);
  flush();
  // The answer to the close is the only sign that the acknowledgements have arrived.
  await channel.close();
  ledger.completed(acknowledged);
}

async function openSession(module: AmqpModule, url: string, work: QueueWork): Promise<Session> {
  const connection = await module.connect(url);
  connection.on("error", () => undefined);
  const channel = await connection.createConfirmChannel();
  await channel.assertQueue(work.queue, {
    durable: true,
    arguments: { "x-queue-type": "quorum" },
  });
  return {
    produce: async (payloads) => {
      for (const payload of payloads) {
        channel.publish("", work.queue, Buffer.from(payload, "latin1"), { persistent: true });
      }
      await channel.waitForConfirms();
    },
    consume: (ledger) => consume(channel, work, ledger),
    close: () => connection.close(),
  };
}

/** Erlang's name server on a separate port, so that no daemon is left behind. */
function startNames(port: number): Promise<ChildServer> {
  return startChild({ command: ["epmd", "-port", String(port), "-address", "127.0.0.1"], port });
}

function startServer(scratch: string, names: number, port: number): Promise<ChildServer> {
  const home = folderOf(user, join(scratch, "rabbitmq"));
  return startChild({
    command: [program],
    port,
    user,
    env: {
      HOME: home,
      // The script execs the server, so the pid is the server's. Its standard input is closed,
      // however.
      RABBITMQ_ALLOW_INPUT: "true",
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: "-noinput",
      ERL_EPMD_PORT: String(names),
      RABBITMQ_NODENAME: `holdfast-${port}@localhost`,
      RABBITMQ_NODE_IP_ADDRESS: "127.0.0.1",
      RABBITMQ_NODE_PORT: String(port),
      RABBITMQ_DIST_PORT: String(freePort()),
      RABBITMQ_MNESIA_BASE: join(home, "data"),
      RABBITMQ_LOG_BASE: join(home, "log"),
      RABBITMQ_PID_FILE: join(home, "pid"),
      RABBITMQ_CONFIG_FILE: join(home, "none"),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(home, "plugins"),
    },
  });
}

export const rabbitmq: Peer = {
  name: "RabbitMQ quorum queue",
  durability: "D2 produce",
  settings:
    "quorum queue of 1 member, persistent; publish × N, then waitForConfirms; " +
    `prefetch 2 N (at least ${prefetchMin}), one ack for N`,
  caveat: "acknowledgements are never confirmed; the clock stops at the answer to closing",
  connections: usualConnections,
  install: async (scratch) => {
    await debianPackage("rabbitmq-server");
    folder = join(scratch, "rabbitmq-client");
    await npmPackages(folder, [`amqplib@${clientVersion}`]);
  },
  start: async (scratch) => {
    const namesPort = freePort();
    const names = await startNames(namesPort);
    const port = freePort();
    const server = await startServer(scratch, namesPort, port).catch(async (cause: unknown) => {
      await names.stop();
      throw cause;
    });
    const module = await loadPackage<AmqpModule>(folder, "amqplib");
    return {
      version: await debianVersion("rabbitmq-server"),
      open: async (work) => {
        const url = `amqp://guest:guest@127.0.0.1:${port}`;
        // In sequence: the first session declares the queue for all.
        const sessions: Session[] = [];
        while (sessions.length < work.connections) {
          sessions.push(await openSession(module, url, work));
        }
        return sessions;
      },
      stop: async () => {
        await server.stop();
        await names.stop();
      },
    };
  },
};
