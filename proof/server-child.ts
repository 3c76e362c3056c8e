// The real server as a process that may be ended at any moment, also before it
// listens, and that may run under a tracer.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const serve = [join(import.meta.dir, "../cli/main.ts"), "serve"];

export interface ServerChild {
  /** The port once it listens; `null` when it ended before. */
  readonly port: Promise<number | null>;
  /** The exit code, or 128 + the signal's number. */
  readonly exited: Promise<number>;
  /** What it has said on standard error so far. */
  log(): string;
  /** To the server itself, also when a tracer runs it. */
  kill(signal: NodeJS.Signals): void;
  /** The server's own process id. */
  readonly pid: number;
}

export interface ServerChildOptions {
  readonly data: string;
  readonly flags?: readonly string[];
  /** A tracer and its arguments; the server's command is put behind them. */
  readonly tracer?: readonly string[];
}

export function spawnServer({ data, flags = [], tracer = [] }: ServerChildOptions): ServerChild {
  const settings = ["--port", "0", "--data", data, "--log-level", "error", ...flags];
  const child = Bun.spawn([...tracer, process.execPath, ...serve, ...settings], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  const port = new Promise<number | null>((resolve) => {
    const listen = async (name: "stdout" | "stderr"): Promise<void> => {
      const decoder = new TextDecoder();
      for await (const bytes of child[name]) {
        said[name] += decoder.decode(bytes, { stream: true });
        const match = /127\.0\.0\.1:(\d+)/.exec(said.stdout);
        if (match !== null) resolve(Number(match[1]));
      }
    };
    void listen("stdout").catch(() => undefined);
    void listen("stderr").catch(() => undefined);
    void child.exited.then(() => resolve(null));
  });
  const pid = (): number => (tracer.length === 0 ? child.pid : tracedBy(child.pid));
  return {
    port,
    exited: child.exited,
    log: () => said.stderr,
    get pid() {
      return pid();
    },
    kill: (signal) => {
      try {
        process.kill(pid(), signal);
      } catch {
        // It has ended by itself.
      }
    },
  };
}

/** The process that a tracer has started; the tracer itself until it has started one. */
function tracedBy(tracer: number): number {
  try {
    const children = readFileSync(`/proc/${tracer}/task/${tracer}/children`, "utf8").trim();
    return children === "" ? tracer : Number(children.split(" ")[0]);
  } catch {
    return tracer;
  }
}
