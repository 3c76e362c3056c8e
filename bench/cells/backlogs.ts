// Data folders with waiting items, each filled once and copied for every run.

import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createQueue } from "../load/calls.ts";
import { withServerOn } from "../load/loaded-server.ts";
import { queue } from "./cells.ts";

/** Copies a folder with this many items to `data`, and waits until the copy is on disk. */
export async function copyBacklog(directory: string, data: string, items: number): Promise<void> {
  const prepared = join(directory, `backlog-${items}`);
  if (!existsSync(prepared)) await fill(prepared, items);
  rmSync(data, { recursive: true, force: true });
  await Bun.$`cp -r --reflink=auto ${prepared} ${data}`;
  // Otherwise the kernel writes the copy to disk during the measurement.
  await Bun.$`sync`;
}

async function fill(data: string, items: number): Promise<void> {
  console.error(`filling a backlog of ${items.toLocaleString("en")} items ...`);
  await withServerOn({ data }, async ({ port, load }) => {
    await createQueue(port, queue);
    if (items === 0) return;
    await load.prepare(port, { queue, items, itemsPerCall: 1_000, connections: 8 });
    await load.run("produce");
  });
}
