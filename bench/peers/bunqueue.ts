// bunqueue on SQLite over its TCP protocol, which is MessagePack in frames that start with
// their length; each item asks to be written before the answer.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort, startChild } from "./child-server.ts";
import { loadPackage, npmPackages } from "./install.ts";
import {
  leaseAndComplete,
  type Peer,
  type QueueWork,
  type Session,
  usualConnections,
} from "./peer.ts";
import { Pipeline } from "./pipeline.ts";

const packageVersion = "2.9.5";

interface Leased {
  readonly id: string;
  readonly data: { readonly p: string };
}

interface Reply {
  readonly ok: boolean;
  readonly error?: string;
  readonly ids?: readonly string[];
  readonly jobs?: readonly Leased[];
  readonly tokens?: readonly string[];
  /** Ids that were not accepted. */
  readonly data?: { readonly ignoredIds?: readonly string[] };
}

interface MessagePack {
  pack(value: unknown): Buffer;
  unpack(bytes: Buffer): Reply;
}

let folder = "";
const lengthBytes = 4;
const leaseMs = 600_000;

function frameOf({ pack }: MessagePack, command: Readonly<Record<string, unknown>>): string {
  const body = pack(command);
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32BE(body.length);
  return length.toString("latin1") + body.toString("latin1");
}

function readFrame({ unpack }: MessagePack, text: string, start: number) {
  const bodyStart = start + lengthBytes;
  if (text.length < bodyStart) return null;
  const end = bodyStart + Buffer.from(text.slice(start, bodyStart), "latin1").readUInt32BE();
  if (text.length < end) return null;
  return { reply: unpack(Buffer.from(text.slice(bodyStart, end), "latin1")), end };
}

async function openSession(
  messagePack: MessagePack,
  port: number,
  work: QueueWork,
  index: number,
): Promise<Session> {
  const { queue } = work;
  const server = await Pipeline.open(port, (text, start) => readFrame(messagePack, text, start));
  const ask = async (command: Readonly<Record<string, unknown>>): Promise<Reply> => {
    const [reply] = await server.ask(frameOf(messagePack, command), 1);
    if (reply?.ok !== true) throw new Error(`${command["cmd"]} was refused; ${reply?.error}`);
    return reply;
  };
  const lease = {
    cmd: "PULLB",
    queue,
    count: work.itemsPerCall,
    owner: `client-${index}`,
    lockTtl: leaseMs,
    timeout: 0,
  };
  return {
    produce: async (payloads) => {
      const items = payloads.map((p) => ({ name: "item", data: { p }, durable: true }));
      const { ids } = await ask({ cmd: "PUSHB", queue, jobs: items });
      if (ids?.length !== payloads.length) throw new Error(`PUSHB took ${ids?.length} items`);
    },
    consume: (ledger) =>
      leaseAndComplete(ledger, {
        lease: async () => {
          const { jobs: items = [], tokens = [] } = await ask(lease);
          return items.length === 0 ? null : { items, tokens };
        },
        payloads: ({ items }) => items.map(({ data }) => data.p),
        complete: async ({ items, tokens }) => {
          const ids = items.map(({ id }) => id);
          const { data } = await ask({ cmd: "ACKB", ids, tokens });
          if (data?.ignoredIds?.length) throw new Error(`ACKB ignored ${data.ignoredIds.length}`);
        },
      }),
    close: async () => server.close(),
  };
}

export const bunqueue: Peer = {
  name: "bunqueue",
  durability: "D1",
  settings:
    "SQLite (synchronous NORMAL, fixed), durable: true; " +
    "TCP: PUSHB, PULLB with owner, ACKB; rate limit lifted",
  caveat:
    "no setting makes it sync before it answers; completed rows stay: with removeOnComplete " +
    "it completes one by one",
  connections: usualConnections,
  install: async (scratch) => {
    folder = join(scratch, "bunqueue");
    await npmPackages(folder, [`bunqueue@${packageVersion}`]);
  },
  start: async (scratch) => {
    const data = join(scratch, "data");
    mkdirSync(data);
    const port = freePort();
    const main = join(folder, "node_modules/bunqueue/dist/cli/index.js");
    const ports = ["--tcp-port", String(port), "--http-port", String(freePort())];
    const server = await startChild({
      command: [
        ...[process.execPath, main, "start", "--host", "127.0.0.1", ...ports],
        ...["--data-path", join(data, "bunqueue.db")],
      ],
      port,
      env: { RATE_LIMIT_MAX_REQUESTS: "1000000000", LOG_LEVEL: "error" },
    });
    const messagePack = await loadPackage<MessagePack>(folder, "msgpackr");
    return {
      version: packageVersion,
      open: (work) =>
        Promise.all(
          Array.from({ length: work.connections }, (_, index) =>
            openSession(messagePack, port, work, index),
          ),
        ),
      stop: () => server.stop(),
    };
  },
};
