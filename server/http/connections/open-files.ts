// Warns at the start if the system's limit of open files is too low for the connections: at the
// limit, no new client can connect.

import type { Log } from "../../observability/log.ts";

/** Files of the stores, the log, the port and the runtime. */
const ownFilesMax = 256;

export interface OpenFiles {
  readonly connectionsMax: number;
  /** Throws if the system has no such file. */
  readonly readFile: (path: string) => string;
  readonly log: Log;
}

export function warnOfOpenFiles({ connectionsMax, readFile, log }: OpenFiles): void {
  const allowed = openFilesMax(readFile);
  if (allowed === null || allowed >= connectionsMax + ownFilesMax) return;
  const hint = "raise ulimit -n or lower --connections-max";
  log.warn("open-file limit is too low for --connections-max", { allowed, connectionsMax, hint });
}

/** `null` = unlimited or unknown. */
function openFilesMax(readFile: OpenFiles["readFile"]): number | null {
  try {
    const soft = /^Max open files +(\d+)/m.exec(readFile("/proc/self/limits"))?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}
