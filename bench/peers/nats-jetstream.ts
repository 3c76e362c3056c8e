// NATS JetStream, built from its Go module: Debian's version is too old to sync before it answers.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, startChild } from "../../testing/child-server.ts";
import { loadPackage, npmPackages, run } from "../../testing/install.ts";
import {
  leaseAndComplete,
  type Peer,
  type QueueWork,
  type Session,
  usualConnections,
} from "./peer.ts";

const clientVersion = "3.4.0";
const goModule = "github.com/nats-io/nats-server/v2";
const serverVersion = "2.12.15";

interface Message {
  readonly data: Uint8Array;
  /** `pending`: messages left for the consumer after this one. */
  readonly info: { readonly pending: number };
  /** Acknowledges, and resolves to true once the server has answered. */
  ackAck(options: { readonly timeout: number }): Promise<boolean>;
}

interface NatsConnection {
  close(): Promise<void>;
}

interface Consumer {
  fetch(options: object): Promise<AsyncIterable<Message>>;
}

interface TransportModule {
  connect(options: { readonly servers: string }): Promise<NatsConnection>;
}

interface JetStreamModule {
  jetstream(connection: NatsConnection): {
    publish(subject: string, payload: string, options: object): Promise<unknown>;
    readonly consumers: { get(stream: string, consumer: string): Promise<Consumer> };
  };
  jetstreamManager(connection: NatsConnection): Promise<{
    readonly streams: { add(options: object): Promise<unknown> };
    readonly consumers: { add(stream: string, options: object): Promise<unknown> };
  }>;
}

interface Client {
  readonly connect: () => Promise<NatsConnection>;
  readonly module: JetStreamModule;
}

const leaseNanoseconds = 600e9;
/** The minimum of the client. */
const fetchExpiresMs = 1_000;
/** Thousands of messages from eight callers wait in one line, each for its own sync. */
const patience = { timeout: 30_000 };
const consumerName = "consumer";

async function openSession(client: Client, work: QueueWork): Promise<Session> {
  const connection = await client.connect();
  const stream = client.module.jetstream(connection);
  const consumer = await stream.consumers.get(work.queue, consumerName);
  const decoder = new TextDecoder();
  const fetchOptions = { max_messages: work.itemsPerCall, expires: fetchExpiresMs };
  return {
    produce: async (payloads) => {
      await Promise.all(payloads.map((payload) => stream.publish(work.queue, payload, patience)));
    },
    consume: (ledger) =>
      leaseAndComplete(ledger, {
        lease: async () => {
          const messages: Message[] = [];
          for await (const message of await consumer.fetch(fetchOptions)) {
            messages.push(message);
            // Otherwise it would hold these messages until it expires, waiting for more.
            if (message.info.pending === 0) break;
          }
          return messages.length === 0 ? null : messages;
        },
        payloads: (messages) => messages.map(({ data }) => decoder.decode(data)),
        complete: async (messages) => {
          const answers = await Promise.all(messages.map((message) => message.ackAck(patience)));
          if (answers.includes(false)) throw new Error("an acknowledgement was not answered");
        },
      }),
    close: () => connection.close(),
  };
}

async function openQueue(client: Client, work: QueueWork): Promise<Session[]> {
  const admin = await client.connect();
  const manager = await client.module.jetstreamManager(admin);
  await manager.streams.add({
    name: work.queue,
    subjects: [work.queue],
    retention: "workqueue",
    storage: "file",
  });
  await manager.consumers.add(work.queue, {
    durable_name: consumerName,
    ack_policy: "explicit",
    ack_wait: leaseNanoseconds,
    max_ack_pending: -1,
  });
  await admin.close();
  return Promise.all(Array.from({ length: work.connections }, () => openSession(client, work)));
}

let folder = "";

export const natsJetStream: Peer = {
  name: "NATS JetStream",
  durability: "D2",
  settings:
    "sync_interval: always; work-queue stream in files, publish × N pipelined, " +
    "fetch(N), ackAck × N pipelined",
  caveat: "one sync for each publish and each acknowledgement, none shared",
  connections: usualConnections,
  install: async (scratch) => {
    folder = join(scratch, "nats-client");
    await run(["go", "install", `${goModule}@v${serverVersion}`], { env: { GOBIN: folder } });
    const packages = ["transport-node", "jetstream"];
    await npmPackages(
      folder,
      packages.map((name) => `@nats-io/${name}@${clientVersion}`),
    );
  },
  start: async (scratch) => {
    const store = join(scratch, "nats");
    mkdirSync(store);
    const port = freePort();
    const file = join(scratch, "nats.conf");
    writeFileSync(
      file,
      `host: 127.0.0.1\nport: ${port}\njetstream {\n  store_dir: "${store}"\n  sync_interval: always\n}\n`,
    );
    const server = await startChild({ command: [join(folder, "nats-server"), "-c", file], port });
    const transport = await loadPackage<TransportModule>(folder, "@nats-io/transport-node");
    const module = await loadPackage<JetStreamModule>(folder, "@nats-io/jetstream");
    const connect = () => transport.connect({ servers: `127.0.0.1:${port}` });
    return {
      version: serverVersion,
      open: (work) => openQueue({ connect, module }, work),
      stop: () => server.stop(),
    };
  },
};
