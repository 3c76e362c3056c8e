// The file of API keys as it is now: looked at again while requests come, so that a
// key can be added or withdrawn without a restart.

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
import { toldRights } from "./key-rights.ts";

/** A withdrawn key opens the server for this long at most. */
const lookMs = 1_000;
/** Enough to find a line by, and too few to be of use to anybody else. */
const shownDigits = 8;
/** More is no file of keys. */
const fileBytesMax = 64 * 1024;

export interface KeyFileOptions {
  readonly path: string;
  readonly log: Log;
  /** Milliseconds from any start. */
  readonly now: () => number;
}

/** What became of a key's calls since the process started. */
export interface KeyUse {
  /** Epoch milliseconds; `null` = there were none. */
  lastUsedAt: number | null;
  refusals: number;
}

export interface KnownKey extends ApiKey {
  readonly use: KeyUse;
}

/** It cannot be read, or is not what was expected; the message is for the operator. */
export class KeyFileError extends Error {
  override readonly name = "KeyFileError";
}

export class KeyFile {
  readonly #options: KeyFileOptions;
  #keys: readonly KnownKey[];
  /** Changes whenever the file does. */
  #stamp: string;
  #lookedAt: number;

  /** Throws a `KeyFileError` unless there is a key in it. */
  constructor(options: KeyFileOptions) {
    this.#options = options;
    this.#lookedAt = options.now();
    this.#stamp = stampOf(options.path);
    this.#keys = known(readKeys(options.path), []);
  }

  /** `null` = it is not known. */
  find(key: string): KnownKey | null {
    this.#look();
    const found = findKey(key, this.#keys);
    if (found !== null) found.use.lastUsedAt = Date.now();
    return found;
  }

  /** The keys in force, and their use. */
  get infos(): readonly KeyInfo[] {
    this.#look();
    return this.#keys.map(({ digest, name, rights, use }) => ({
      digest: digest.toString("hex").slice(0, shownDigits),
      name,
      ...toldRights({ rights }),
      last_used_at: use.lastUsedAt === null ? null : toSecond(use.lastUsedAt),
      refusals: use.refusals,
    }));
  }

  #look(): void {
    const { path, log, now } = this.#options;
    if (now() - this.#lookedAt < lookMs) return;
    this.#lookedAt = now();
    // Taken before it is read: what changes meanwhile is seen at the next look.
    const stamp = stampOf(path);
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    try {
      this.#keys = known(readKeys(path), this.#keys);
      log.info("API keys were read again", { keys: this.#keys.length });
    } catch (error) {
      if (!(error instanceof KeyFileError)) throw error;
      log.warn("API keys could not be read again; the former ones stay", { fault: error.message });
    }
  }
}

/** With what they were used for so far. */
function known(keys: readonly ApiKey[], before: readonly KnownKey[]): readonly KnownKey[] {
  return keys.map((key) => {
    const same = before.find(({ digest }) => digest.equals(key.digest));
    return { ...key, use: same?.use ?? { lastUsedAt: null, refusals: 0 } };
  });
}

function toSecond(ms: number): string {
  return new Date(ms - (ms % 1_000)).toISOString();
}

/**
 * The keys of one file as several threads know them: a use by one is a use. A thread that has not
 * looked at the file since it changed may know others.
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
      const refusals = before.refusals + info.refusals;
      merged.set(info.digest, { ...before, last_used_at: last, refusals });
    }
  }
  return [...merged.values()];
}

/**
 * Adds a key's line in one write, so that a server that reads the file meanwhile has it with
 * the line or without. Throws a `KeyFileError` where the file could then not be read as one.
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
      // On a full disk a part of a line may fit, and no server could read the file after that.
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

/** A file put in the place of another has another number even where size and time agree. */
export function stampOf(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join();
  } catch {
    return "none";
  }
}
