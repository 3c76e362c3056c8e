// Runs a server as a process, with a load generator beside it.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type ServerProcess, startServer } from "../../testing/server-process.ts";
import { LoadProcess } from "./load-process.ts";

export interface Loaded {
  readonly server: ServerProcess;
  readonly port: number;
  readonly load: LoadProcess;
  /** The folder of the server's data. */
  readonly data: string;
  /** From the start of the process until the server is healthy. */
  readonly readyMs: number;
}

interface LoadedOptions {
  /** A scratch folder on the measured disk; the server's data are in a new folder in it. */
  readonly directory: string;
  /** Writes data to the folder before the server starts. */
  readonly prepare?: (data: string) => Promise<void>;
  readonly flags?: readonly string[];
  /** A program that runs the server, such as a tracer. */
  readonly under?: readonly string[];
}

export async function withServer<T>(
  { directory, prepare, flags = [], under = [] }: LoadedOptions,
  use: (loaded: Loaded) => Promise<T>,
): Promise<T> {
  const data = mkdtempSync(join(directory, "data-"));
  try {
    await prepare?.(data);
    return await withServerOn({ data, flags, under }, use);
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/** Uses a folder that is kept. */
export async function withServerOn<T>(
  { data, flags = [], under = [] }: Pick<LoadedOptions, "flags" | "under"> & { data: string },
  use: (loaded: Loaded) => Promise<T>,
): Promise<T> {
  mkdirSync(data, { recursive: true });
  const begin = performance.now();
  const server = await startServer({ data, under, flags: ["--log-level", "error", ...flags] });
  try {
    const health = await fetch(`http://127.0.0.1:${server.port}/health`);
    const readyMs = performance.now() - begin;
    if (health.status !== 200) throw new Error(`/health answered ${health.status}`);
    await using load = await LoadProcess.start();
    return await use({ server, port: server.port, load, data, readyMs });
  } finally {
    await server.stop();
  }
}
