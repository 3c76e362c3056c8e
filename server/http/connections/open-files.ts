// How many files and connections the system lets this process have open, for a warning at the
// start: at the limit, no new client can connect.

import type { Log } from "../../observability/log.ts";

/** Stores, logs, the port and what the runtime has open itself. */
const ownFilesMax = 256;

export interface OpenFiles {
  readonly connectionsMax: number;
  /** Throws where the system has no such file. */
  readonly readFile: (path: string) => string;
  readonly log: Log;
}

export function warnOfOpenFiles({ connectionsMax, readFile, log }: OpenFiles): void {
  const allowed = openFilesMax(readFile);
  if (allowed === null || allowed >= connectionsMax + ownFilesMax) return;
  const hint = "raise ulimit -n or lower --connections-max";
  log.warn("fewer files may be open than connections", { allowed, connectionsMax, hint });
}

/** `null` = there is no bound, or the system does not tell. */
function openFilesMax(readFile: OpenFiles["readFile"]): number | null {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFile("/proc/self/limits"))?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}
