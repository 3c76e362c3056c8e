// `bun bench/backlog.ts [items]`: what a backlog costs in short: the time to ready,
// the file and the memory with and without it. `bun run bench` has it with medians,
// and what it does to rates (`--only '^start|backlog'`).

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Backlogs } from "./backlogs.ts";
import { usageOf } from "./process-usage.ts";
import { startServer } from "./server-process.ts";
import { markdownTable } from "./table.ts";

const items = Number(process.argv[2] ?? 1_000_000);
const directory = mkdtempSync(join(tmpdir(), "holdfast-backlog-"));
const data = join(directory, "data");

async function rowWith(count: number): Promise<string[]> {
  const shape = { queue: "bench", items: count, payloadBytes: 100, partitions: 1 };
  await new Backlogs(directory).copyTo(data, shape);
  const begin = performance.now();
  const server = await startServer({ data, flags: ["--log-level", "error"] });
  const readyMs = performance.now() - begin;
  const { memoryBytes } = usageOf(server.pid);
  await server.stop();
  const fileBytes = statSync(join(data, "shard-0.db")).size;
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  return [
    count.toLocaleString("en"),
    readyMs.toFixed(0),
    megabytes(memoryBytes),
    megabytes(fileBytes),
  ];
}

try {
  const rows = [await rowWith(0), await rowWith(items)];
  console.log(markdownTable(["items waiting", "ready ms", "memory MB", "file MB"], rows));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
