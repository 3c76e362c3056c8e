// beanstalkd with its log synced at every write, commands pipelined.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort, startChild } from "../../testing/child-server.ts";
import { debianPackage, debianVersion } from "../../testing/install.ts";
import {
  leaseAndComplete,
  type Peer,
  type QueueWork,
  type Session,
  usualConnections,
} from "./peer.ts";
import { Pipeline } from "./pipeline.ts";

interface Reply {
  /** The first line. */
  readonly line: string;
  /** What follows a `RESERVED` line; `""` elsewhere. */
  readonly payload: string;
}

function readReply(text: string, start: number): { reply: Reply; end: number } | null {
  const lineEnd = text.indexOf("\r\n", start);
  if (lineEnd < 0) return null;
  const line = text.slice(start, lineEnd);
  const after = lineEnd + 2;
  if (!line.startsWith("RESERVED ")) return { reply: { line, payload: "" }, end: after };
  const length = Number(line.slice(line.lastIndexOf(" ") + 1));
  const end = after + length + 2;
  if (text.length < end) return null;
  return { reply: { line, payload: text.slice(after, after + length) }, end };
}

const leaseSeconds = 600;

async function openSession(port: number, work: QueueWork): Promise<Session> {
  const server = await Pipeline.open(port, readReply);
  const call = async (commands: readonly string[], expected: string): Promise<Reply[]> => {
    const replies = await server.call(commands.join(""), commands.length);
    const wrong = replies.find(({ line }) => !line.startsWith(expected));
    if (wrong !== undefined) throw new Error(`expected ${expected}, got ${wrong.line}`);
    return replies;
  };
  await call([`use ${work.queue}\r\n`], "USING");
  await call([`watch ${work.queue}\r\n`], "WATCHING");
  const lease = "reserve-with-timeout 0\r\n".repeat(work.itemsPerCall);
  return {
    produce: async (payloads) => {
      const puts = payloads.map(
        (payload) => `put 0 0 ${leaseSeconds} ${payload.length}\r\n${payload}\r\n`,
      );
      await call(puts, "INSERTED");
    },
    consume: (ledger) =>
      leaseAndComplete(ledger, {
        lease: async () => {
          const replies = await server.call(lease, work.itemsPerCall);
          const reserved = replies.filter(({ line }) => line.startsWith("RESERVED"));
          return reserved.length === 0 ? null : reserved;
        },
        payloads: (reserved) => reserved.map(({ payload }) => payload),
        complete: async (reserved) => {
          await call(
            reserved.map(({ line }) => `delete ${line.split(" ")[1]}\r\n`),
            "DELETED",
          );
        },
      }),
    close: async () => server.close(),
  };
}

export const beanstalkd: Peer = {
  name: "beanstalkd",
  durability: "D2",
  settings: "-b data -f 0; put × N, reserve-with-timeout 0 × N, delete × N, pipelined",
  caveat: "one sync for each put and delete; a reserve is not written: it ends with the connection",
  connections: usualConnections,
  install: () => debianPackage("beanstalkd"),
  start: async (scratch) => {
    const folder = join(scratch, "log");
    mkdirSync(folder);
    const port = freePort();
    const command = ["beanstalkd", "-l", "127.0.0.1", "-p", String(port), "-b", folder, "-f", "0"];
    const server = await startChild({ command, port });
    return {
      version: await debianVersion("beanstalkd"),
      open: (work) =>
        Promise.all(Array.from({ length: work.connections }, () => openSession(port, work))),
      stop: () => server.stop(),
    };
  },
};
