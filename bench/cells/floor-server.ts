// Floor E: an Elysia server that validates the same bodies against the same schemas and answers at
// once. Its rate is the limit of HTTP alone on this machine. Prints its address. With a file as
// argument it is floor W: a lease waits for the next produce, which writes to that file as much as
// a turn of one item and syncs it, in the same thread.

import { fdatasyncSync, openSync, writeSync } from "node:fs";
import { Elysia } from "elysia";
import { operations } from "../../openapi/operations.ts";
import { payload } from "../load/delivery.ts";
import { idLength } from "../load/requests.ts";

const done = '{"code":200,"code_text":"OK","message":""}';
const json = { headers: { "content-type": "application/json" } };

/** Lease replies by number of items, built before the measurement. */
const leaseReplies = new Map<number, string>();

function leaseReply(count: number): string {
  let text = leaseReplies.get(count);
  if (text === undefined) {
    const item = JSON.stringify({
      id: "0".repeat(idLength),
      encoding: "",
      kind: "",
      reference: "",
      attempts: 1,
      lease_deadline: "2026-01-01T00:00:00.000Z",
      bytes: btoa(payload),
    });
    const items = new Array(count).fill(item).join(",");
    text = `{"queue_name":"floor","partition":0,"items":[${items}]}`;
    leaseReplies.set(count, text);
  }
  return text;
}

/** Five pages with their headers: what SQLite appends for a produce of one item and its lease. */
const turnBytes = new Uint8Array(5 * (4_096 + 24));
const path = process.argv[2];
const file = path === undefined ? null : openSync(path, "w");
let wake: (() => void) | null = null;

function produced(): Response {
  if (file !== null) {
    writeSync(file, turnBytes);
    fdatasyncSync(file);
    wake?.();
  }
  return new Response(done, json);
}

async function leased(count: number): Promise<Response> {
  if (file !== null) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  return new Response(leaseReply(count), json);
}

const { produce, lease, complete } = operations;
const app = new Elysia()
  .post(produce.path, produced, { body: produce.request })
  .post(lease.path, ({ body }) => leased(body.batch_size ?? 1), { body: lease.request })
  .post(complete.path, () => new Response(done, json), { body: complete.request })
  .listen({
    hostname: "127.0.0.1",
    port: 0,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    reusePort: false,
    development: false,
  });
console.log(`http://127.0.0.1:${app.server?.port}`);
