// Data folders with items that wait, each filled once and copied for every run.

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createQueue } from "./calls.ts";
import { Connection } from "./http-client.ts";
import { LoadProcess } from "./load-process.ts";
import { startServer } from "./server-process.ts";
import { shortCount } from "./workload.ts";

export interface BacklogShape {
  readonly queue: string;
  readonly items: number;
  readonly payloadBytes: number;
  readonly partitions: number;
}

const fillItemsPerCall = 1_000;
const fillConnections = 8;

export class Backlogs {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Copies the prepared folder to `data`, and waits until the copy is on disk. */
  async copyTo(data: string, shape: BacklogShape): Promise<void> {
    const prepared = await this.#prepare(shape);
    rmSync(data, { recursive: true, force: true });
    await Bun.$`cp -r --reflink=auto ${prepared} ${data}`;
    // Otherwise the kernel writes the copy out while the clock runs.
    await Bun.$`sync`;
  }

  async #prepare(shape: BacklogShape): Promise<string> {
    const name = `${shape.queue}-${shortCount(shape.items)}-${shape.payloadBytes}B-p${shape.partitions}`;
    const folder = join(this.#directory, name);
    const filled = join(this.#directory, `${name}.filled`);
    if (existsSync(filled)) return folder;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    await fill(folder, shape);
    writeFileSync(filled, "");
    return folder;
  }
}

async function fill(data: string, shape: BacklogShape): Promise<void> {
  const { queue, items, payloadBytes, partitions } = shape;
  console.error(`filling a backlog of ${items.toLocaleString("en")} items ...`);
  const server = await startServer({ data, flags: ["--log-level", "error"] });
  try {
    const connection = await Connection.open(server.port);
    await createQueue(connection, { queue, partitions });
    connection.close();
    if (items === 0) return;
    const load = await LoadProcess.start();
    try {
      await load.prepare(server.port, {
        queue,
        items,
        payloadBytes,
        itemsPerCall: fillItemsPerCall,
        connections: fillConnections,
        backlog: 0,
      });
      await load.run("produce");
    } finally {
      await load.stop();
    }
  } finally {
    await server.stop();
  }
}
