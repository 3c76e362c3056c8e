// Bodies that are cheap to send and expensive to read. While the server reads one, it must answer
// other requests and use little memory. None of the bodies may have an effect.
//
// The delay is the processor time of the serving thread between the arrival of a request and its
// answer. The operating system measures it, so other programs do not increase it.

import { existsSync, readFileSync } from "node:fs";
import { type OperationId, operations } from "../../openapi/operations.ts";
import { Connection } from "../../testing/http-client.ts";
import type { ConnectionReport } from "./connections.ts";
import { exchange } from "./raw/raw-exchange.ts";
import type { Target } from "./target.ts";

/** The goal is 50 ms; a slow machine needs more for the same work. */
const delayMsMax = 250;
/**
 * Growth since before the body: several copies of the largest body. The allocator returns the
 * memory of earlier bodies late, so that memory is checked at the end.
 */
const memoryBytesMax = 300_000_000;

interface Stall {
  readonly name: string;
  readonly id: OperationId;
  readonly body: () => Uint8Array;
  readonly isProtobuf?: true;
}

const produced = '{"queue_name":"orders","request_timeout":"1m","items":[';
const imported = '{"queue_name":"orders","partition":0,"items":[';
const completed = '{"queue_name":"orders","request_timeout":"1m","partition":0,"ids":[';
const transacted = '{"request_timeout":"1m","produce":[';

const [small, medium, large] = [250_000, 4_900_000, 60_000_000];

function filled(bytes: number, piece: string, before = "", behind = ""): () => Uint8Array {
  const count = Math.floor((bytes - before.length - behind.length) / piece.length);
  return () => Buffer.from(before + piece.repeat(count) + behind, "latin1");
}

/** Protobuf tags of an import's fields. */
const [item, leaseDeadline, headers] = ["\x1a", "\x22", "\xa2\x06"];

/** A length-delimited protobuf field: tag, length, bytes. */
function delimited(tag: string, bytes: Uint8Array): Uint8Array {
  const length: number[] = [];
  for (let rest = bytes.length; length.length === 0 || rest > 0; rest >>>= 7) {
    length.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
  }
  return Buffer.concat([Buffer.from(tag, "latin1"), Buffer.from(length), bytes]);
}

/** An object with distinct keys. */
function keyed(count: number): string {
  return `{${Array.from({ length: count }, (_, index) => `"k${index}":"v"`).join(",")}}`;
}

export const stalls: readonly Stall[] = [
  { name: "lists in lists", id: "produce", body: filled(medium, "[") },
  { name: "lists in lists, small", id: "complete", body: filled(small, "[") },
  { name: "lists in lists, large", id: "importItems", body: filled(large, "[") },
  { name: "objects", id: "produce", body: filled(medium, "{},", produced, "1]}") },
  { name: "objects, large", id: "importItems", body: filled(large, "{},", imported, "1]}") },
  { name: "items", id: "importItems", body: filled(150_000, "{},", imported, "{}]}") },
  { name: "items of queues", id: "transact", body: filled(medium, '{"items":[]},', transacted) },
  { name: "numbers", id: "produce", body: filled(medium, "0,", produced, "0]}") },
  { name: "ids", id: "complete", body: filled(small, '"",', completed, '""]}') },
  { name: "digits", id: "produce", body: filled(medium, "1", produced, "]}") },
  { name: "blanks", id: "produce", body: filled(medium, " ") },
  { name: "keys", id: "produce", body: () => Buffer.from(keyed(350_000)) },
  {
    name: "headers",
    id: "produce",
    body: () => Buffer.from(`${produced}{"headers":${keyed(350_000)}}]}`),
  },
  { name: "escapes", id: "produce", body: filled(medium, "\\n", `${produced}{"kind":"`, '"}') },
  {
    name: "half a pair behind many",
    id: "produce",
    body: filled(medium, "\\ud83d\\ude00", `${produced}{"utf8":"`, '\\ud83d"}]}'),
  },
  {
    name: "blanks in base64",
    id: "produce",
    body: filled(medium, "A ", `${produced}{"bytes":"`, '!"}]}'),
  },
  { name: "empty items", id: "produce", body: filled(medium, "\x1a\0"), isProtobuf: true },
  {
    name: "empty items, large",
    id: "importItems",
    body: filled(large, "\x1a\0"),
    isProtobuf: true,
  },
  { name: "a name again and again", id: "produce", body: filled(medium, "\n\0"), isProtobuf: true },
  { name: "groups in groups", id: "produce", body: filled(medium, "\x3b"), isProtobuf: true },
  {
    name: "a group of many fields",
    id: "importItems",
    body: filled(large, "\x08\0", "\x9b\x06", "\x9c\x06"),
    isProtobuf: true,
  },
  {
    name: "a header of many fields",
    id: "importItems",
    body: () => delimited(item, delimited(headers, filled(large, "\n\0")())),
    isProtobuf: true,
  },
  {
    name: "an instant of many fields",
    id: "importItems",
    body: () => delimited(item, delimited(leaseDeadline, filled(large, "\x08\x01")())),
    isProtobuf: true,
  },
  {
    name: "a text of one item again and again",
    id: "importItems",
    body: () => delimited(item, filled(large, "\n\0")()),
    isProtobuf: true,
  },
  {
    name: "unknown fields of one item",
    id: "produce",
    body: () => delimited(item, filled(medium, "\x98\x06\0")()),
    isProtobuf: true,
  },
];

export async function tryStalls(target: Target): Promise<ConnectionReport> {
  const faults: string[] = [];
  let delayMsMost = 0;
  let memoryMost = 0;
  const stored = await target.stored("orders");
  for (const stall of stalls) {
    const { outcome, delayMs, memoryBytes } = await during(target, stall);
    delayMsMost = Math.max(delayMsMost, delayMs);
    memoryMost = Math.max(memoryMost, memoryBytes);
    if (outcome !== 400) faults.push(`${stall.name}: expected 400, got ${outcome}`);
    if (delayMs > delayMsMax) {
      faults.push(`${stall.name}: others waited for ${Math.round(delayMs)} ms of work`);
    }
    if (memoryBytes > memoryBytesMax) {
      faults.push(`${stall.name}: memory grew by ${memoryBytes} bytes`);
    }
  }
  const now = await target.stored("orders");
  if (now !== stored) faults.push(`refused bodies left ${now - stored} items`);
  return {
    figures: {
      stalls: stalls.length,
      stallDelayMsMax: Math.round(delayMsMost),
      stallMemoryBytesMax: memoryMost,
    },
    faults,
  };
}

async function during(target: Target, { id, body, isProtobuf }: Stall) {
  const { port, pid } = target;
  const bytes = body();
  const head = [
    `POST ${operations[id].path} HTTP/1.1`,
    "Host: localhost",
    `Content-Type: application/${isProtobuf ? "protobuf" : "json"}`,
    `Content-Length: ${bytes.byteLength}`,
  ];
  const whole = Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), bytes]);
  const other = await Connection.open(port);
  const before = residentBytes(pid);
  let isOver = false;
  const answer = exchange({ port, bytes: whole, quietMs: 60_000 }).finally(() => {
    isOver = true;
  });
  let delayMs = 0;
  let memoryBytes = 0;
  while (!isOver) {
    const started = workedMs(pid);
    await other.post("/v1/queue.stats", '{"queue_name":"canary"}');
    delayMs = Math.max(delayMs, workedMs(pid) - started);
    memoryBytes = Math.max(memoryBytes, residentBytes(pid) - before);
  }
  other.close();
  return { outcome: (await answer).outcome, delayMs, memoryBytes };
}

/**
 * Processor time of a process's first thread in milliseconds; 0 if the system does not report it.
 */
function workedMs(pid: number): number {
  const path = `/proc/${pid}/task/${pid}/schedstat`;
  if (!existsSync(path)) return 0;
  return Number(readFileSync(path, "utf8").split(" ")[0]) / 1_000_000;
}

function residentBytes(pid: number): number {
  const path = `/proc/${pid}/status`;
  if (!existsSync(path)) return 0;
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(path, "utf8"))?.[1] ?? 0) * 1024;
}
