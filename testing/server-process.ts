// Runs a server in its own process on a free port, for benchmarks and for tests that need a
// process.

import { join } from "node:path";
import { serverEnvironment } from "../deploy/environment.ts";

export interface ServerProcess {
  readonly port: number;
  readonly pid: number;
  /** Its standard error so far. */
  log(): string;
  /**
   * Its complete standard error, once it has ended; the last part may arrive after the exit code.
   */
  wholeLog(): Promise<string>;
  /**
   * Sends the signal and waits for the end; returns the exit code, or 128 + the signal's number.
   */
  stop(signal?: NodeJS.Signals): Promise<number>;
  readonly exited: Promise<number>;
  /** Resident memory, in bytes. */
  memoryBytes(): Promise<number>;
}

export interface ServerOptions {
  readonly data: string;
  readonly port?: number;
  readonly flags?: readonly string[];
  /** A program that runs the server, such as a tracer. */
  readonly under?: readonly string[];
}

const serve = [join(import.meta.dir, "../cli/main.ts"), "serve"];

/** Runs the server to its end, for starts that should fail. */
export async function runServer(
  flags: readonly string[],
): Promise<{ code: number; output: string }> {
  const child = Bun.spawn([process.execPath, ...serve, ...flags], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, output: stdout + stderr };
}

export function startServer({
  data,
  port = 0,
  flags = [],
  under = [],
}: ServerOptions): Promise<ServerProcess> {
  return startListening([...serve, "--port", String(port), "--data", data, ...flags], { under });
}

/**
 * Runs a script with Bun, optionally `under` another program; resolves once it prints its address.
 * It ends with this process, even if that is killed.
 */
export function startListening(
  script: readonly string[],
  { under = [] }: { readonly under?: readonly string[] } = {},
): Promise<ServerProcess> {
  // Variables that are already set take precedence, so that two values can be compared.
  const env = { ...serverEnvironment, ...process.env };
  return startCommand([...under, process.execPath, "--no-orphans", ...script], { env });
}

/** Runs any command that starts a server; resolves once it prints its address. */
export async function startCommand(
  command: readonly string[],
  options: SpawnOptions = {},
): Promise<ServerProcess> {
  const child = spawnCommand(command, options);
  const port = await child.port;
  if (port === null) {
    throw new Error(`the server ended with ${await child.exited}; ${await child.output()}`);
  }
  return {
    ...child,
    port,
    memoryBytes: async () => {
      const status = await Bun.file(`/proc/${child.pid}/status`).text();
      return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024;
    },
  };
}

interface SpawnOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** A server that may end at any moment, even before it listens. */
export interface SpawnedServer
  extends Pick<ServerProcess, "pid" | "log" | "wholeLog" | "stop" | "exited"> {
  /** Resolves once it prints its address; `null` if it ended before. */
  readonly port: Promise<number | null>;
  /** Its complete output, once it has ended. */
  output(): Promise<string>;
}

export function spawnCommand(
  command: readonly string[],
  options: SpawnOptions = {},
): SpawnedServer {
  const child = Bun.spawn([...command], {
    ...options,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const printed = { stdout: "", stderr: "" };
  const { promise: port, resolve } = Promise.withResolvers<number | null>();
  const read = async (name: "stdout" | "stderr"): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const bytes of child[name]) {
      printed[name] += decoder.decode(bytes, { stream: true });
      const match = /127\.0\.0\.1:(\d+)/.exec(printed.stdout);
      if (match !== null) resolve(Number(match[1]));
    }
  };
  const ended = Promise.allSettled([read("stdout"), read("stderr")]);
  void child.exited.then(() => resolve(null));
  return {
    port,
    pid: child.pid,
    log: () => printed.stderr,
    wholeLog: async () => {
      await ended;
      return printed.stderr;
    },
    output: async () => {
      await ended;
      return printed.stdout + printed.stderr;
    },
    exited: child.exited,
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return child.exited;
    },
  };
}
