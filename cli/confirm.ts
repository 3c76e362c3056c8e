// Asks whoever sits at the terminal before something is lost for good.

import { createInterface } from "node:readline/promises";
import { UsageError } from "./exit-codes.ts";
import { Interrupted } from "./interrupt.ts";
import type { Output } from "./output.ts";

export const yesMeaning = "do not ask; required where there is no terminal to ask on";

/** Throws where nobody can be asked. */
export function requireAsking({ isJson }: Output): void {
  if (!isJson && process.stdin.isTTY === true && process.stderr.isTTY === true) return;
  throw new UsageError("--yes is required; expected it where there is no terminal to ask on");
}

/** Anything but a yes ends the command as an interrupt does. */
export async function confirm({ note }: Output, question: string): Promise<void> {
  const asked = createInterface({ input: process.stdin, output: process.stderr });
  const left = new AbortController();
  // Ctrl-C, or the end of the input.
  asked.once("close", () => left.abort());
  const answer = await asked
    .question(`${question} [y/N] `, { signal: left.signal })
    .catch(() => "");
  asked.close();
  if (/^y(es)?$/i.test(answer.trim())) return;
  note("nothing changed");
  throw new Interrupted("not confirmed");
}
