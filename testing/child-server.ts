// Runs a peer's server as a child process: on a free port, with its data in a scratch folder, as
// another user if the server requires it, and ended by its own pid.

import { chownSync, mkdirSync } from "node:fs";

export interface ChildServer {
  readonly pid: number;
  stop(): Promise<void>;
}

export interface ChildOptions {
  readonly command: readonly string[];
  /** The listening port; a started server accepts connections on it. */
  readonly port: number;
  readonly env?: Record<string, string>;
  readonly user?: string;
  readonly stopSignal?: NodeJS.Signals;
}

const startTimeoutMs = 45_000;
const stopTimeoutMs = 20_000;
const pollMs = 20;
/** Enough of the last output to show why a start failed. */
const saidCharactersMax = 4_000;

const portMin = 10_100;
const portCount = 11_200;
const portsEach = 16;
let portsTried = 0;

/** Running servers, each with the function that ends it at once. */
const running = new Map<Bun.Subprocess, () => Promise<void>>();
let stopping = false;

/** For an interrupted run: ends every server, and prevents further starts. */
export async function stopChildren(): Promise<void> {
  stopping = true;
  await Promise.all([...running.values()].map((stop) => stop()));
}

/**
 * A port for a server that cannot choose and report one. It is below the range of automatic ports.
 * No other process gets it while this process lives, because a second port, on which this process
 * listens, stands for it.
 */
export function freePort(): number {
  for (;;) {
    const port = portMin + ((process.pid * portsEach + portsTried) % portCount);
    portsTried += 1;
    const claim = listenOn(port + portCount);
    const trial = claim && listenOn(port);
    trial?.stop(true);
    if (trial) return port;
    claim?.stop(true);
  }
}

function listenOn(port: number): Bun.TCPSocketListener | null {
  try {
    const socket = { data: () => undefined };
    const listener = Bun.listen({ hostname: "127.0.0.1", port, exclusive: true, socket });
    listener.unref();
    return listener;
  } catch {
    return null;
  }
}

async function accepts(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: { data: () => undefined },
    });
    socket.end();
    return true;
  } catch {
    return false;
  }
}

function idOf(kind: "-u" | "-g", user: string): number {
  const found = Bun.spawnSync(["id", kind, user]);
  if (found.exitCode !== 0) throw new Error(`there is no user ${user}`);
  return Number(found.stdout.toString());
}

/** The command run as that user; unchanged if we are not root. */
export function asUser(user: string, command: readonly string[]): string[] {
  if (process.getuid?.() !== 0) return [...command];
  // setpriv execs the command, so its pid is the server's.
  return [
    "setpriv",
    `--reuid=${user}`,
    `--regid=${idOf("-g", user)}`,
    "--init-groups",
    "--",
    ...command,
  ];
}

/** Creates a folder owned by the user. */
export function folderOf(user: string, path: string): string {
  mkdirSync(path, { recursive: true });
  if (process.getuid?.() === 0) chownSync(path, idOf("-u", user), idOf("-g", user));
  return path;
}

export async function startChild(options: ChildOptions): Promise<ChildServer> {
  const { command, port, user, stopSignal = "SIGTERM" } = options;
  if (stopping) throw new Error(`${command[0]} is not started; the run was interrupted`);
  const child = Bun.spawn(user === undefined ? [...command] : asUser(user, command), {
    // Another user may not have access to our working folder.
    cwd: "/",
    env: { ...process.env, ...options.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let said = "";
  const listen = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const bytes of stream)
      said = (said + decoder.decode(bytes)).slice(-saidCharactersMax);
  };
  void listen(child.stdout);
  void listen(child.stderr);
  const stop = async (): Promise<void> => {
    child.kill(stopSignal);
    const late = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
    await child.exited;
    clearTimeout(late);
  };
  running.set(child, stop);
  void child.exited.then(() => running.delete(child));
  const deadline = performance.now() + startTimeoutMs;
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  // Another process may accept on this port, which made ours exit.
  while (!(await accepts(port)) || hasEnded()) {
    if (hasEnded() || performance.now() > deadline) {
      await stop();
      throw new Error(`${command[0]} did not start; ${said.trim().slice(-300)}`);
    }
    await Bun.sleep(pollMs);
  }
  return { pid: child.pid, stop };
}
