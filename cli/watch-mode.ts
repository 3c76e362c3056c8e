// Refreshes the output of a command until it is interrupted.

import { clearScreenDown, cursorTo } from "node:readline";
import { HoldfastError } from "../client/errors.ts";
import { isTransient } from "../client/lease-poller.ts";
import type { Context } from "./context.ts";

/** Waits for an unreachable server. `once`: makes the calls, and returns a function that prints. */
export async function watchOutput(
  context: Context,
  everyMs: number,
  once: () => Promise<() => void>,
): Promise<never> {
  for (;;) {
    const begun = performance.now();
    try {
      draw(context, await once());
    } catch (error) {
      if (!(error instanceof HoldfastError) || !isTransient(error)) throw error;
      const { message } = error;
      draw(context, () => process.stderr.write(`${message}; trying again\n`));
    }
    await Bun.sleep(Math.max(0, everyMs - (performance.now() - begun)));
  }
}

/** On a terminal, each output replaces the previous one. */
function draw({ isJson }: Context, print: () => void): void {
  if (process.stdout.isTTY && !isJson) {
    cursorTo(process.stdout, 0, 0);
    clearScreenDown(process.stdout);
  }
  print();
}
