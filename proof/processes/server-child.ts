// The real server as a process that may end at any moment, even before it listens, and that may run
// under a tracer.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type SpawnedServer, spawnCommand } from "../../testing/server-process.ts";

const serve = [join(import.meta.dir, "../../cli/main.ts"), "serve"];

/** `pid` is the server's own, even under a tracer. */
export interface ServerChild extends Pick<SpawnedServer, "port" | "exited" | "log" | "pid"> {
  /** The port; throws if the server ends before it listens. */
  listening(): Promise<number>;
  /** Signals the server, not the tracer. */
  kill(signal: NodeJS.Signals): void;
}

export interface ServerChildOptions {
  readonly data: string;
  readonly flags?: readonly string[];
  /** A tracer and its arguments; the server's command is appended. */
  readonly tracer?: readonly string[];
}

export function spawnServer({ data, flags = [], tracer = [] }: ServerChildOptions): ServerChild {
  const settings = ["--port", "0", "--data", data, "--log-level", "error", ...flags];
  const child = spawnCommand([...tracer, process.execPath, ...serve, ...settings]);
  const pid = (): number => (tracer.length === 0 ? child.pid : tracedBy(child.pid));
  return {
    port: child.port,
    listening: async () => {
      const port = await child.port;
      if (port !== null) return port;
      throw new Error(`the server did not start; exit ${await child.exited}; ${child.log()}`);
    },
    exited: child.exited,
    log: child.log,
    get pid() {
      return pid();
    },
    kill: (signal) => {
      try {
        process.kill(pid(), signal);
      } catch {
        // It has already exited.
      }
    },
  };
}

/** The process started by a tracer; the tracer itself until then. */
function tracedBy(tracer: number): number {
  try {
    const children = readFileSync(`/proc/${tracer}/task/${tracer}/children`, "utf8").trim();
    return children === "" ? tracer : Number(children.split(" ")[0]);
  } catch {
    return tracer;
  }
}
