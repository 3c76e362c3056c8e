// Is the load generator near to what C can do? The same produce requests against
// floor E, from it and from wrk.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { requestBytes } from "./http-client.ts";
import { LoadProcess } from "./load-process.ts";
import type { Work } from "./orders.ts";
import type { Figures, RunOptions } from "./run-cell.ts";
import { startListening } from "./server-process.ts";

const seconds = 2;
const shapes = [
  { itemsPerCall: 1, connections: 64, items: 120_000 },
  { itemsPerCall: 100, connections: 64, items: 1_000_000 },
];

export async function compareWithWrk({ directory }: RunOptions): Promise<Figures> {
  if (Bun.which("wrk") === null) throw new Error("wrk is not installed; expected it in the path");
  const figures: Figures = {};
  for (const shape of shapes) {
    const work: Work = { ...shape, queue: "floor", payloadBytes: 100, backlog: 0 };
    const ours = await withFloor(async (port) => {
      const load = await LoadProcess.start();
      await load.prepare(port, work);
      await load.run("produce");
      await load.prepare(port, work);
      const result = await load.run("produce");
      await load.stop();
      return { rate: work.items / work.itemsPerCall / result.seconds, ...result };
    });
    const theirs = await withFloor(async (port) => {
      const script = join(directory, "produce.lua");
      writeFileSync(script, luaOf(port, work));
      await wrk(port, { script, connections: work.connections });
      return wrk(port, { script, connections: work.connections });
    });
    const name = `${work.itemsPerCall}x${work.connections}`;
    figures[`${name} calls/s`] = ours.rate;
    figures[`${name} client CPU share`] = ours.clientCpuSeconds / ours.seconds;
    figures[`${name} calls/s of wrk`] = theirs;
    figures[`${name} of wrk`] = ours.rate / theirs;
  }
  return figures;
}

/** Each has a server of its own, warmed up by itself. */
async function withFloor<T>(use: (port: number) => Promise<T>): Promise<T> {
  const server = await startListening([join(import.meta.dir, "floor-server.ts")]);
  try {
    return await use(server.port);
  } finally {
    await server.stop("SIGKILL");
  }
}

/** Calls per second. */
async function wrk(
  port: number,
  { script, connections }: { script: string; connections: number },
): Promise<number> {
  const url = `http://127.0.0.1:${port}/v1/queue.produce`;
  const text = await Bun.$`wrk -t1 -c${connections} -d${seconds}s -s ${script} ${url}`
    .quiet()
    .text();
  if (/Non-2xx/.test(text)) throw new Error(`wrk was refused; ${text}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(text)?.[1]);
}

function luaOf(port: number, { itemsPerCall, payloadBytes, queue }: Work): string {
  const items = new Array(itemsPerCall).fill({ utf8: "0".repeat(payloadBytes) });
  const body = JSON.stringify({ queue_name: queue, request_timeout: "1m", items });
  const request = requestBytes(port, "/v1/queue.produce", body).toString();
  return `local text = ${JSON.stringify(request)}\nfunction request() return text end\n`;
}
