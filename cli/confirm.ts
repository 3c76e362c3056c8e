// Asks for confirmation on the terminal before data is lost.

import { createInterface } from "node:readline/promises";
import { UsageError } from "./exit-codes.ts";
import { Interrupted } from "./interrupt.ts";
import type { Output } from "./output.ts";

export const yesMeaning = "skip the confirmation; required without a terminal";

/** Throws `UsageError` without a terminal. */
export function requireTerminal({ isJson }: Output): void {
  if (!isJson && process.stdin.isTTY === true && process.stderr.isTTY === true) return;
  throw new UsageError("--yes is required; there is no terminal for a confirmation");
}

/** Throws `Interrupted` unless the answer is yes. */
export async function confirm({ note }: Output, question: string): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new AbortController();
  // It closes on Ctrl-C and at the end of the input.
  terminal.once("close", () => ended.abort());
  const answer = await terminal
    .question(`${question} [y/N] `, { signal: ended.signal })
    .catch(() => "");
  terminal.close();
  if (/^y(es)?$/i.test(answer.trim())) return;
  note("nothing changed");
  throw new Interrupted("not confirmed");
}
