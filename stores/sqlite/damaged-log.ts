// Decides whether a store may be opened with its current write-ahead log.

import { copyFileSync, existsSync, rmSync } from "node:fs";
import { StoreError } from "../store.ts";
import { storeError } from "./connect.ts";
import { scanWal } from "./wal-scan.ts";
import { type LogState, markedCommits, stateOfLog } from "./wal-watermark.ts";

/**
 * SQLite treats damage in the log as its end and drops the rest; its integrity check reports
 * nothing afterwards. It does not notice a missing end either. If the loss is accepted, a copy of
 * the log is left beside the file.
 */
export function refuseDamagedLog({
  log,
  mark,
  acceptLogLoss,
}: {
  readonly log: string;
  readonly mark: string;
  readonly acceptLogLoss: boolean;
}): LogState {
  const scan = existsSync(log) ? scanWal(log) : null;
  const state: LogState =
    scan?.verdict === "damaged"
      ? { is: "cut", commits: markedCommits(mark) }
      : stateOfLog(log, mark, scan?.frames ?? 0);
  if (state.is !== "cut") return state;
  if (!acceptLogLoss) throw lostTurns();
  let copy = 1;
  while (existsSync(`${log}-damaged-${copy}`)) copy += 1;
  const path = `${log}-damaged-${copy}`;
  try {
    copyFileSync(log, path);
  } catch (cause) {
    rmSync(path, { force: true });
    throw storeError(cause);
  }
  return state;
}

export function lostTurns(): StoreError {
  return new StoreError(
    "damaged",
    "the write-ahead log is damaged and committed turns would be lost; restore a backup, or start once with --accept-wal-loss",
  );
}
