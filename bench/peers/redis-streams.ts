// Redis Streams with a consumer group, over a RESP client that writes each call immediately.

import {
  leaseAndComplete,
  manyConnections,
  type Peer,
  type QueueWork,
  type Session,
} from "./peer.ts";
import { Pipeline } from "./pipeline.ts";
import { installRedis, type RedisServer, redisSettings, startRedis } from "./redis-server.ts";

type Reply = string | number | null | readonly Reply[];
type Read = { readonly reply: Reply; readonly end: number } | null;

/** One reply of RESP 2. */
function readReply(text: string, start: number): Read {
  const lineEnd = text.indexOf("\r\n", start);
  if (lineEnd < 0) return null;
  const line = text.slice(start + 1, lineEnd);
  const after = lineEnd + 2;
  switch (text[start]) {
    case "-":
      throw new Error(`Redis refused; ${line}`);
    case "+":
      return { reply: line, end: after };
    case ":":
      return { reply: Number(line), end: after };
    case "$":
      return readBulk(text, after, Number(line));
    case "*":
      return readList(text, after, Number(line));
    default:
      throw new Error(`Redis sent no reply; ${text.slice(start, start + 20)}`);
  }
}

function readBulk(text: string, start: number, length: number): Read {
  if (length < 0) return { reply: null, end: start };
  const end = start + length + 2;
  return text.length < end ? null : { reply: text.slice(start, end - 2), end };
}

function readList(text: string, start: number, length: number): Read {
  if (length < 0) return { reply: null, end: start };
  const list: Reply[] = [];
  let end = start;
  for (let index = 0; index < length; index += 1) {
    const next = readReply(text, end);
    if (next === null) return null;
    list.push(next.reply);
    end = next.end;
  }
  return { reply: list, end };
}

function command(...words: readonly string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`;
}

/** XREADGROUP returns `[[stream, [[id, [field, value]], …]]]`. */
function entriesOf(reply: Reply | undefined): { id: string; payload: string }[] {
  const list = (value: Reply | undefined): readonly Reply[] => (Array.isArray(value) ? value : []);
  const stream = list(list(reply)[0]);
  return list(stream[1]).map((entry) => {
    const [id, fields] = list(entry);
    return { id: String(id), payload: String(list(fields)[1]) };
  });
}

async function openSession(port: number, work: QueueWork, index: number): Promise<Session> {
  const redis = await Pipeline.open(port, readReply);
  const lease = command(
    ...["XREADGROUP", "GROUP", "group", `client-${index}`],
    ...["COUNT", String(work.itemsPerCall), "STREAMS", work.queue, ">"],
  );
  return {
    produce: async (payloads) => {
      const adds = payloads.map((payload) => command("XADD", work.queue, "*", "p", payload));
      await redis.call(adds.join(""), adds.length);
    },
    consume: (ledger) =>
      leaseAndComplete(ledger, {
        lease: async () => {
          const [reply] = await redis.call(lease, 1);
          const entries = entriesOf(reply);
          return entries.length === 0 ? null : entries;
        },
        payloads: (entries) => entries.map(({ payload }) => payload),
        complete: async (entries) => {
          const ids = entries.map(({ id }) => id);
          const [acknowledged] = await redis.call(
            command("XACK", work.queue, "group", ...ids) + command("XDEL", work.queue, ...ids),
            2,
          );
          if (acknowledged !== ids.length) {
            throw new Error(`XACK took ${acknowledged} of ${ids.length}`);
          }
        },
      }),
    close: async () => redis.close(),
  };
}

async function openQueue(server: RedisServer, work: QueueWork): Promise<Session[]> {
  const admin = await Pipeline.open(server.port, readReply);
  await admin.call(command("XGROUP", "CREATE", work.queue, "group", "0", "MKSTREAM"), 1);
  admin.close();
  return Promise.all(
    Array.from({ length: work.connections }, (_, index) => openSession(server.port, work, index)),
  );
}

export const redisStreams: Peer = {
  name: "Redis Streams",
  durability: "D2",
  settings: `${redisSettings}; XADD × N pipelined, XREADGROUP COUNT N, XACK + XDEL of N ids`,
  caveat: "",
  connections: manyConnections,
  install: installRedis,
  start: async (scratch) => {
    const server = await startRedis(scratch);
    return {
      version: server.version,
      open: (work) => openQueue(server, work),
      stop: () => server.stop(),
    };
  },
};
