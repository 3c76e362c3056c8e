// Compares the load generator with wrk, a generator in C: both send the same produce requests to
// floor E and to Holdfast, one after the other.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { requestBytes } from "../../testing/http-client.ts";
import { usageOf } from "../../testing/process-usage.ts";
import { startFloor } from "../cells/floors.ts";
import type { RunOptions } from "../cells/run-cell.ts";
import { createQueue } from "../load/calls.ts";
import type { Work } from "../load/commands.ts";
import { payload } from "../load/delivery.ts";
import { LoadProcess } from "../load/load-process.ts";
import { withServer } from "../load/loaded-server.ts";
import type { Figures } from "../report/results.ts";

const seconds = 2;
const works: readonly Work[] = [
  { queue: "bench", itemsPerCall: 1, connections: 64, items: 120_000 },
  { queue: "bench", itemsPerCall: 100, connections: 64, items: 1_000_000 },
];

interface Compared {
  readonly port: number;
  readonly pid: number;
  readonly directory: string;
}

/** Each target has its own server, which both generators have loaded before the measurement. */
export async function compareWithWrk({ directory }: RunOptions): Promise<Figures> {
  if (Bun.which("wrk") === null) throw new Error("wrk is not installed; expected it in the path");
  const figures: Figures = {};
  for (const work of works) {
    const name = `${work.itemsPerCall}x${work.connections}`;
    const floor = await startFloor();
    try {
      addAll(figures, `E ${name}`, await compare({ ...floor, directory }, work));
    } finally {
      await floor.stop("SIGKILL");
    }
    await withServer({ directory }, async ({ server: { port, pid } }) => {
      await createQueue(port, work.queue);
      addAll(figures, `holdfast ${name}`, await compare({ port, pid, directory }, work));
    });
  }
  return figures;
}

function addAll(figures: Figures, name: string, found: Figures): void {
  for (const [key, value] of Object.entries(found)) figures[`${name} ${key}`] = value;
}

async function compare({ port, pid, directory }: Compared, work: Work): Promise<Figures> {
  await using load = await LoadProcess.start();
  const ours = async () => {
    await load.prepare(port, work);
    const before = usageOf(pid).cpuSeconds;
    const { seconds: took, clientCpuSeconds } = await load.run("produce");
    const serverCpuSeconds = usageOf(pid).cpuSeconds - before;
    const calls = work.items / work.itemsPerCall / took;
    return { calls, overServer: clientCpuSeconds / serverCpuSeconds };
  };
  const script = join(directory, "produce.lua");
  writeFileSync(script, luaOf(port, work));
  const theirs = () => wrk(port, { script, connections: work.connections });
  await ours();
  await theirs();
  const { calls, overServer } = await ours();
  const ofWrk = await theirs();
  return {
    "calls/s": calls,
    "client CPU over the server's": overServer,
    "calls/s of wrk": ofWrk,
    "of wrk": calls / ofWrk,
  };
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

function luaOf(port: number, { itemsPerCall, queue }: Work): string {
  const items = new Array(itemsPerCall).fill({ utf8: payload });
  const body = JSON.stringify({ queue_name: queue, request_timeout: "1m", items });
  const request = requestBytes(port, "/v1/queue.produce", body).toString();
  return `local text = ${JSON.stringify(request)}\nfunction request() return text end\n`;
}
