// npm and npx start a command under a shell that dies of a signal without
// passing it on, so a stop sent to them would leave the server running alone.

import { readFileSync } from "node:fs";

const lookEveryMs = 500;

/** Under npm or npx, sends this process SIGTERM once the processes above it have gone. */
export function stopWhenOrphaned(): void {
  if (process.env["npm_command"] === undefined) {
    return;
  }
  const above = chainAbove();
  const watch = setInterval(() => {
    if (chainAbove() !== above) {
      clearInterval(watch);
      process.kill(process.pid, "SIGTERM");
    }
  }, lookEveryMs);
  watch.unref();
}

/** The parent (the shell, or the `bun start` below it) and what that was started by. */
function chainAbove(): string {
  const parent = parentOf("self");
  return `${parent} ${parentOf(parent)}`;
}

/** From Linux's process table; `""` on other systems, where such a shell replaces itself. */
function parentOf(pid: string): string {
  try {
    return /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "";
  } catch {
    return "";
  }
}
