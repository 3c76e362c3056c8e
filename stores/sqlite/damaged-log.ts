// Decides whether a store may be opened on the log that is there.

import { copyFileSync, existsSync } from "node:fs";
import { StoreError } from "../store.ts";
import { isCutShort } from "./log-mark.ts";
import { scanWal } from "./wal-scan.ts";

/**
 * SQLite takes a damaged place in the log for its end and forgets what follows;
 * its own integrity check finds nothing wrong afterwards. Nor does it miss an
 * end that is gone. If that is accepted (the answer is `true`), the log as it
 * was stays beside the file.
 */
export function refuseDamagedLog({
  log,
  mark,
  acceptLogLoss,
}: {
  readonly log: string;
  readonly mark: string;
  readonly acceptLogLoss: boolean;
}): boolean {
  const scan = existsSync(log) ? scanWal(log) : null;
  const isLost = scan?.verdict === "damaged" || isCutShort(log, mark, scan?.frames ?? 0);
  if (!isLost) return false;
  if (!acceptLogLoss) {
    throw new StoreError(
      "damaged",
      "the write-ahead log is damaged and committed turns would be lost; restore a backup, or start once with --accept-wal-loss",
    );
  }
  if (scan !== null) {
    let copy = 1;
    while (existsSync(`${log}-damaged-${copy}`)) copy += 1;
    copyFileSync(log, `${log}-damaged-${copy}`);
  }
  return true;
}
