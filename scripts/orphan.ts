// npm and npx start a command under a shell that a signal ends without being passed on. The server
// would keep running after a stop.

import { readFileSync } from "node:fs";

const lookEveryMs = 500;

/** Under npm or npx, sends this process SIGTERM once the processes above it have ended. */
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

/** The parent (the shell, or the `bun start` below it) and its parent. */
function chainAbove(): string {
  const parent = parentOf("self");
  return `${parent} ${parentOf(parent)}`;
}

/** From Linux's process table; `""` on other systems, where such a shell execs the command. */
function parentOf(pid: string): string {
  try {
    return /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "";
  } catch {
    return "";
  }
}
