// `bun bench/overview.ts [queues …] [--seconds 20]`: what it costs to be looked at. A server with so
// many queues, of which a few are in use, is asked for `server.overview` once a second, for what has
// changed and for all of it, and not at all, in turns. Printed is the processor time of each.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createQueue } from "./calls.ts";
import { Connection } from "./http-client.ts";
import { usageOf } from "./process-usage.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

const words = process.argv.slice(2);
const flag = words.indexOf("--seconds");
const seconds = flag < 0 ? 20 : Number(words.splice(flag, 2)[1]);
const queueCounts = words.length > 0 ? words.map(Number) : [500, 10_000];
/** Of the quiet and of the watched time each. */
const rounds = 3;
/** Items that are produced in a second, each to another queue. */
const usedCount = 10;
let used = 0;

type Look = "nobody" | "changes" | "whole";
const titles: Readonly<Record<Look, string>> = {
  nobody: "nobody looks",
  changes: "one call a second for what changed",
  whole: "one call a second for all",
};

for (const queues of queueCounts) await measure(queues);

async function measure(queues: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-overview-"));
  const server = await startServer({
    data: join(directory, "data"),
    flags: ["--log-level", "error"],
  });
  try {
    const connection = await Connection.open(server.port);
    for (let index = 0; index < queues; index += 1) {
      await createQueue(connection, { queue: nameOf(index), partitions: 1 });
    }
    const looks = { nobody: [], changes: [], whole: [] } as Record<Look, number[]>;
    const bytes = { nobody: 0, changes: 0, whole: 0 };
    let since = "";
    for (let round = 0; round < rounds; round += 1) {
      for (const name of Object.keys(looks) as Look[]) {
        const share = await coreShare(server, async () => {
          await useSome(connection, queues);
          if (name === "nobody") return;
          const reply = await look(connection, name === "whole" ? "" : since);
          ({ since, bytes: bytes[name] } = reply);
        });
        looks[name].push(share);
      }
    }
    const quiet = median(looks.nobody);
    console.log(`${queues} queues, ${usedCount} of them in use, ${rounds} × ${seconds} s each`);
    for (const [name, shares] of Object.entries(looks)) {
      const share = median(shares);
      const more = name === "nobody" ? "" : `, ${percent(share - quiet)} more`;
      const reply =
        name === "nobody" ? "" : `; a reply ${(bytes[name as Look] / 1e3).toFixed(1)} kB`;
      console.log(
        `  ${titles[name as Look].padEnd(34)} ${percent(share)} of a core${more}${reply}`,
      );
    }
  } finally {
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function nameOf(index: number): string {
  return `queue-${String(index).padStart(5, "0")}`;
}

/** An item each to the next of the queues in use, so that rows change. */
async function useSome(connection: Connection, queues: number): Promise<void> {
  for (let count = 0; count < usedCount; count += 1) {
    used += 1;
    const queue_name = nameOf(used % Math.min(queues, usedCount));
    const items = [{ utf8: "seen" }];
    const body = JSON.stringify({ queue_name, request_timeout: "1m", items });
    const { status } = await connection.post("/v1/queue.produce", body);
    if (status !== 200) throw new Error(`a produce was answered ${status}`);
  }
}

async function look(
  connection: Connection,
  since: string,
): Promise<{ readonly since: string; readonly bytes: number }> {
  const reply = await connection.post("/v1/server.overview", JSON.stringify({ since }));
  if (reply.status !== 200) throw new Error(`the overview was answered ${reply.status}`);
  return { since: JSON.parse(reply.body).since, bytes: reply.body.length };
}

/** Of one core, while the work is done once a second. */
async function coreShare({ pid }: ServerProcess, work: () => Promise<void>): Promise<number> {
  await work();
  const cpuBefore = usageOf(pid).cpuSeconds;
  const begun = performance.now();
  for (let second = 1; second <= seconds; second += 1) {
    await work();
    await Bun.sleep(Math.max(0, begun + 1_000 * second - performance.now()));
  }
  const passed = (performance.now() - begun) / 1_000;
  return (usageOf(pid).cpuSeconds - cpuBefore) / passed;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`;
}
