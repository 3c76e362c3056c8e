// `bun bench/watched-load.ts [--consoles 20] [--queues 500] [--rounds 3] [--items N] [--out FILE]`: what open
// consoles take from the load of the benchmark. The canonical cell runs with none and with all of them,
// in turn. They ask what pages ask, from a process of their own: browsers are on other machines.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { ServerOverviewReply } from "../openapi/schemas.ts";
import { call, createQueue } from "./calls.ts";
import { Connection } from "./http-client.ts";
import { headOf, summarize, watchedEnding, writeResults } from "./results.ts";
import { type Figures, measureCell, queue } from "./run-cell.ts";
import { startServer } from "./server-process.ts";
import { type Cell, canonicalCells } from "./workload.ts";

const { values: words } = parseArgs({
  options: {
    consoles: { type: "string", default: "20" },
    queues: { type: "string", default: "500" },
    rounds: { type: "string", default: "3" },
    /** Absent: those of the cell. */
    items: { type: "string" },
    out: { type: "string" },
    /** Of a server: this process is the consoles. */
    look: { type: "string" },
  },
});
const consoles = Number(words.consoles);
const queues = Number(words.queues);
const rounds = Number(words.rounds);
const canonical = canonicalCells[0] as Cell;
const cell: Cell = { ...canonical, items: Number(words.items ?? canonical.items) };

/** As `console/` asks. */
const overviewMs = 1_000;
const queueMs = 2_000;
const ofQueue = [
  ["/v1/queue.explain", {}],
  ["/v1/queue.stats", { columns: true }],
  ["/v1/queue.inspect", {}],
  ["/v1/queue.clients", { limit: 3 }],
] as const;

if (words.look === undefined) await measure();
else await look(Number(words.look));

/** Half of the consoles show all queues, half the one that is at work; until the process is ended. */
async function look(port: number): Promise<void> {
  await Promise.all(
    Array.from({ length: consoles }, async (_, index) => {
      const connection = await Connection.open(port);
      const at = (index / consoles) * overviewMs;
      await Bun.sleep(at);
      await lookFrom(connection, index % 2 === 1);
    }),
  );
}

async function lookFrom(connection: Connection, isOfQueue: boolean): Promise<void> {
  let since = "";
  for (let polls = 0; ; polls += 1) {
    const begun = performance.now();
    const told = await call(connection, "/v1/server.overview", { since });
    const { since: next, poll_after_ms: afterMs } = told as ServerOverviewReply;
    since = next;
    for (const [path, more] of isOfQueue && (polls * overviewMs) % queueMs === 0 ? ofQueue : []) {
      // Refused until the load has made it.
      await connection.post(path, JSON.stringify({ queue_name: queue, ...more }));
    }
    const waitMs = Math.max(overviewMs, afterMs);
    await Bun.sleep(Math.max(0, begun + waitMs - performance.now()));
  }
}

async function measure(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-watched-"));
  const figures = new Map<string, Figures[]>();
  try {
    for (let round = 0; round < rounds; round += 1) {
      const counts = round % 2 === 0 ? [0, consoles] : [consoles, 0];
      for (const count of counts) {
        const found = await runWith(count, join(directory, "data"));
        const name = count === 0 ? "nobody looks" : `${count} consoles`;
        figures.set(name, [...(figures.get(name) ?? []), found]);
        console.log(name.padEnd(14), textOf(found));
      }
    }
    await write(directory, figures);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function runWith(count: number, data: string): Promise<Figures> {
  mkdirSync(data, { recursive: true });
  const server = await startServer({ data, flags: ["--log-level", "error"] });
  const connection = await Connection.open(server.port);
  for (let index = 0; index < queues; index += 1) {
    await createQueue(connection, { queue: `other-${index}`, partitions: 1 });
  }
  connection.close();
  const looking = count === 0 ? null : openConsoles(server.port);
  try {
    const figures = await measureCell(cell, server);
    if (looking !== null && looking.exitCode !== null) throw new Error("the consoles have ended");
    return figures;
  } finally {
    looking?.kill();
    await server.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

function openConsoles(port: number): Bun.Subprocess {
  const told = ["--look", String(port), "--consoles", String(consoles)];
  return Bun.spawn([process.execPath, import.meta.path, ...told], {
    stdout: "inherit",
    stderr: "inherit",
  });
}

function textOf(figures: Figures): string {
  return (["produce", "consume"] as const)
    .map((phase) => `${phase} ${Math.round(figures[`${phase}.itemsPerSecond`] ?? 0)} items/s`)
    .join(", ");
}

async function write(directory: string, figures: ReadonlyMap<string, Figures[]>): Promise<void> {
  const { items } = cell;
  const told = `--consoles ${consoles} --queues ${queues} --rounds ${rounds} --items ${items}`;
  const results = {
    ...(await headOf(`bun bench/watched-load.ts ${told}`, directory)),
    settings: { consoles, queues, rounds, cell: cell.name, items },
    measurements: [...figures].map(([name, of]) => ({ name, figures: summarize(of) })),
  };
  console.log(writeResults(results, { ending: watchedEnding, path: words.out ?? null }));
}
