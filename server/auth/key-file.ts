// The file of API keys. It is checked for changes while requests arrive, so that a key can be added
// or withdrawn without a restart.

import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from "node:fs";
import type { KeyInfo } from "../../openapi/schemas.ts";
import type { Log } from "../observability/log.ts";
import { type ApiKey, findKey, parseApiKeys } from "./api-keys.ts";
import { rightsReply } from "./key-rights.ts";

/** A withdrawn key is accepted for at most this long. */
const checkMs = 1_000;
/** Enough digits to find a key's line, too few to be of use to an attacker. */
const shownDigits = 8;
/** A larger file is not a file of keys. */
const fileBytesMax = 64 * 1024;

export interface KeyFileOptions {
  readonly path: string;
  readonly log: Log;
  /** Milliseconds from an arbitrary start. */
  readonly now: () => number;
}

/** Use of a key since the process started. */
export interface KeyUse {
  /** Epoch milliseconds; `null` = never. */
  lastUsedAt: number | null;
  /** Requests denied for lack of a role. */
  deniedCount: number;
}

export interface KnownKey extends ApiKey {
  readonly use: KeyUse;
}

/** The file cannot be read or is invalid; the message is for the operator. */
export class KeyFileError extends Error {
  override readonly name = "KeyFileError";
}

export class KeyFile {
  readonly #options: KeyFileOptions;
  #keys: readonly KnownKey[];
  /** Changes whenever the file does. */
  #stamp: string;
  #checkedAt: number;

  /** Throws a `KeyFileError` unless the file is valid and has a key. */
  constructor(options: KeyFileOptions) {
    this.#options = options;
    this.#checkedAt = options.now();
    this.#stamp = fileStamp(options.path);
    this.#keys = withUse(readKeys(options.path), []);
  }

  /** `null` = unknown. */
  find(key: string): KnownKey | null {
    this.#reloadIfChanged();
    const found = findKey(key, this.#keys);
    if (found !== null) found.use.lastUsedAt = Date.now();
    return found;
  }

  /** The accepted keys and their use. */
  get infos(): readonly KeyInfo[] {
    this.#reloadIfChanged();
    return this.#keys.map(({ digest, name, rights, use }) => ({
      digest: digest.toString("hex").slice(0, shownDigits),
      name,
      ...rightsReply({ rights }),
      last_used_at: use.lastUsedAt === null ? null : toSecond(use.lastUsedAt),
      denied_calls: use.deniedCount,
    }));
  }

  #reloadIfChanged(): void {
    const { path, log, now } = this.#options;
    if (now() - this.#checkedAt < checkMs) return;
    this.#checkedAt = now();
    // Stamped before it is read: a change in between is noticed at the next check.
    const stamp = fileStamp(path);
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    try {
      this.#keys = withUse(readKeys(path), this.#keys);
      log.info("reloaded API keys", { keys: this.#keys.length });
    } catch (error) {
      if (!(error instanceof KeyFileError)) throw error;
      log.warn("failed to reload API keys; keeping the current ones", { fault: error.message });
    }
  }
}

/** Keeps the use of keys that were known before. */
function withUse(keys: readonly ApiKey[], before: readonly KnownKey[]): readonly KnownKey[] {
  return keys.map((key) => {
    const same = before.find(({ digest }) => digest.equals(key.digest));
    return { ...key, use: same?.use ?? { lastUsedAt: null, deniedCount: 0 } };
  });
}

function toSecond(ms: number): string {
  return new Date(ms - (ms % 1_000)).toISOString();
}

/**
 * Merges the infos of several threads on the keys of one file, and combines their use. A thread
 * that has not noticed the latest change of the file may know other keys.
 */
export function mergedInfos(threads: readonly (readonly KeyInfo[])[]): readonly KeyInfo[] {
  const merged = new Map<string, KeyInfo>();
  for (const info of threads.flat()) {
    const before = merged.get(info.digest);
    if (before === undefined) merged.set(info.digest, info);
    else {
      const [last = null] = [before.last_used_at, info.last_used_at]
        .filter((at) => at !== null)
        .toSorted()
        .toReversed();
      merged.set(info.digest, {
        ...before,
        last_used_at: last,
        denied_calls: before.denied_calls + info.denied_calls,
      });
    }
  }
  return [...merged.values()];
}

/**
 * Appends a key's line in one write, so that a server that reads the file meanwhile finds all of
 * the line or none. Throws a `KeyFileError` if the file would then be invalid.
 */
export function addKeyLine(path: string, line: string): void {
  const before = existsSync(path) ? readText(path) : "";
  const lineBreak = before === "" || before.endsWith("\n") ? "" : "\n";
  const keys = parseApiKeys(`${before}${lineBreak}${line}`);
  if (!keys.ok) throw new KeyFileError(keys.fault);
  orKeyFileError(() => {
    // Readable by all users: a digest is not a secret, and the server often runs as another user.
    const file = openSync(path, "a", 0o644);
    try {
      const { size } = fstatSync(file);
      const bytes = Buffer.from(`${lineBreak}${line}\n`);
      // On a full disk a part of the line may fit, which would make the file invalid.
      if (writeSync(file, bytes) < bytes.length) {
        ftruncateSync(file, size);
        throw new KeyFileError("there is no space left on the disk");
      }
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  });
}

function readText(path: string): string {
  return orKeyFileError(() => {
    const { size } = statSync(path);
    if (size > fileBytesMax) {
      throw new KeyFileError(`the file is too large; expected ${fileBytesMax} bytes, got ${size}`);
    }
    return readFileSync(path, "utf8");
  });
}

function orKeyFileError<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof KeyFileError) throw cause;
    throw new KeyFileError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function readKeys(path: string): readonly ApiKey[] {
  const read = parseApiKeys(readText(path));
  if (!read.ok) throw new KeyFileError(read.fault);
  return read.keys;
}

/** Includes the inode number: a replaced file may have the same size and times. */
export function fileStamp(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join();
  } catch {
    return "none";
  }
}
