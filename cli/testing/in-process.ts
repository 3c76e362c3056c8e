// Runs commands in the process of the tests: starting a process takes longer than most commands.

import { assert } from "../../engine/model/assert.ts";
import { run } from "../run.ts";

export interface Run {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

interface Options {
  /** Of standard input. */
  readonly input?: string | Uint8Array<ArrayBuffer>;
  /** Added to that of the tests. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

let isRunning = false;

/** Runs one command at a time: it uses the process's own streams, environment and folder. */
export async function runInProcess(
  words: readonly string[],
  { input = "", env = {}, cwd = process.cwd() }: Options = {},
): Promise<Run> {
  assert(!isRunning, "another command is running in this process");
  isRunning = true;
  const before = { env: { ...process.env }, cwd: process.cwd() };
  const stdin = Bun.stdin.stream;
  const streams = [process.stdin, process.stdout, process.stderr];
  const areTTY = streams.map(({ isTTY }) => isTTY);
  const [out, error] = [capture(process.stdout), capture(process.stderr)];
  const { log } = console;
  try {
    // Bun's own goes past `process.stdout`.
    console.log = (text: string) => process.stdout.write(`${text}\n`);
    Bun.stdin.stream = () => new Blob([input]).stream();
    for (const stream of streams) stream.isTTY = false;
    Object.assign(process.env, env);
    process.chdir(cwd);
    const code = await run(words);
    return { code, out: out.text, error: error.text };
  } finally {
    console.log = log;
    for (const captured of [out, error]) captured.end();
    for (const [index, stream] of streams.entries()) stream.isTTY = areTTY[index] ?? false;
    Bun.stdin.stream = stdin;
    process.env = before.env;
    process.chdir(before.cwd);
    process.stdout.removeAllListeners("error");
    isRunning = false;
    for (const signal of ["SIGINT", "SIGTERM"]) process.removeAllListeners(signal);
  }
}

function capture(stream: NodeJS.WriteStream) {
  const { write } = stream;
  const captured = {
    text: "",
    end: (): void => {
      stream.write = write;
    },
  };
  stream.write = (chunk: string | Uint8Array) => {
    captured.text += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
    return true;
  };
  return captured;
}
