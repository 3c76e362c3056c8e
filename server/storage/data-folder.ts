// Creates the data folder, checks that it is writable, and removes it if the start that created it
// fails.

import { accessSync, constants, existsSync, mkdirSync, rmSync } from "node:fs";
import { countStores } from "../../stores/open.ts";
import { StoreError } from "../../stores/store.ts";

/** The data folder is unusable; the message is for the operator. */
export class DataFolderError extends Error {
  override readonly name = "DataFolderError";
  /** `disk`: a later start may succeed, once the disk has space. */
  readonly fault: "settings" | "disk";

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.fault = isNoRoom(cause) ? "disk" : "settings";
  }
}

export interface DataFolder {
  /** The number of stores in it; 1 if it has none yet. */
  readonly shards: number;
  /** Removes the folders that this start created, with their contents. */
  remove(): void;
}

export function openDataFolder(path: string): DataFolder {
  try {
    // `mkdirSync` returns the first folder that was missing; parent folders may have been missing,
    // too.
    const made = mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.W_OK | constants.X_OK);
    return {
      shards: Math.max(1, countStores(path)),
      remove: () => {
        if (made !== undefined) rmSync(made, { recursive: true, force: true });
      },
    };
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw new DataFolderError(reasonOf(cause), cause);
  }
}

/** Counts the stores in a folder; 0 if it is missing. Throws `StoreError` or `DataFolderError`. */
export function storesOf(path: string): number {
  try {
    return existsSync(path) ? countStores(path) : 0;
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw new DataFolderError(reasonOf(cause), cause);
  }
}

function isNoRoom(cause: unknown): boolean {
  const { code = "" } = (cause ?? {}) as NodeJS.ErrnoException;
  return ["ENOSPC", "EDQUOT"].includes(code);
}

function reasonOf(cause: unknown): string {
  const { code, message, syscall } = cause as NodeJS.ErrnoException;
  if (isNoRoom(cause)) return "there is no space left for the data folder";
  if (code === "ENOTDIR" && syscall === "scandir") return "the data folder is a file";
  const isReadOnly = code === "EACCES" || code === "EPERM" || code === "EROFS";
  if (isReadOnly && syscall === "access") return "the data folder is read-only for this user";
  if (isReadOnly && syscall === "scandir") return "the data folder cannot be read by this user";
  if (isReadOnly) return "the data folder cannot be created; its folder is read-only for this user";
  return `the data folder cannot be created; ${message}`;
}
