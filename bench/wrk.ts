// Is the load generator near to what C can do? The same produce requests from it and from wrk, to
// floor E and to Holdfast, one after the other.

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createQueue } from "./calls.ts";
import { Connection, requestBytes } from "./http-client.ts";
import { LoadProcess } from "./load-process.ts";
import type { Work } from "./orders.ts";
import { usageOf } from "./process-usage.ts";
import type { Figures, RunOptions } from "./run-cell.ts";
import { type ServerProcess, startListening, startServer } from "./server-process.ts";

const seconds = 2;
const shapes = [
  { itemsPerCall: 1, connections: 64, items: 120_000 },
  { itemsPerCall: 100, connections: 64, items: 1_000_000 },
];

/** Each has a server of its own, which has met both generators before it is measured. */
export async function compareWithWrk({ directory }: RunOptions): Promise<Figures> {
  if (Bun.which("wrk") === null) throw new Error("wrk is not installed; expected it in the path");
  const data = join(directory, "wrk");
  const servers = {
    E: () => startListening([join(import.meta.dir, "floor-server.ts")]),
    holdfast: () => startServer({ data, flags: ["--log-level", "error"] }),
  };
  const figures: Figures = {};
  for (const [name, start] of Object.entries(servers)) {
    for (const shape of shapes) {
      const server = await start();
      try {
        const compared = await compare(server, { ...shape, directory, isFloor: name === "E" });
        for (const [key, value] of Object.entries(compared)) {
          figures[`${name} ${shape.itemsPerCall}x${shape.connections} ${key}`] = value;
        }
      } finally {
        await server.stop("SIGKILL");
        rmSync(data, { recursive: true, force: true });
      }
    }
  }
  return figures;
}

interface Compared extends Pick<Work, "itemsPerCall" | "connections" | "items"> {
  readonly directory: string;
  /** It stores nothing, so it knows no queues. */
  readonly isFloor: boolean;
}

async function compare(
  server: ServerProcess,
  { directory, isFloor, ...shape }: Compared,
): Promise<Figures> {
  const { port, pid } = server;
  const work: Work = { ...shape, queue: "bench", payloadBytes: 100, backlog: 0 };
  if (!isFloor) {
    const connection = await Connection.open(port);
    await createQueue(connection, { queue: work.queue, partitions: 1 });
    connection.close();
  }
  const load = await LoadProcess.start();
  try {
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
  } finally {
    await load.stop();
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
