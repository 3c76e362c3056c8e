// A disk whose power can be cut at any moment. It keeps synced data. Each unsynced write survives
// by chance: whole, some sectors of it, or not at all, in any order.

import type { Random } from "../../engine/model/random.ts";
import type { TracedCall } from "./trace.ts";

/** The unit that a drive writes atomically. */
const sectorBytes = 512;

type Unsynced =
  | { readonly kind: "write"; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: "truncate"; readonly size: number };

interface CutFile {
  bytes: Uint8Array;
  size: number;
  unsynced: Unsynced[];
  /** How many of them the running sync covers; `null` = none is running. */
  syncing: number | null;
  /** The size after all writes so far. */
  sizeSeen: number;
  /** Removed since the last sync of its folder. */
  isRemoved: boolean;
}

/** How many unsynced writes survive. */
export type Survival = "all" | "none" | "some";

export class CutDisk {
  readonly #files = new Map<string, CutFile>();

  apply(call: TracedCall): void {
    if (!this.#files.has(call.path)) {
      if (call.kind === "sync") this.#syncFolder();
      if (call.kind === "sync" || call.kind === "sync begins") return;
    }
    const file = this.#file(call.path);
    switch (call.kind) {
      case "write":
        this.#write(file, call.at, call.bytes);
        return;
      case "append":
        this.#write(file, file.sizeSeen, call.bytes);
        return;
      case "truncate":
        file.unsynced.push({ kind: "truncate", size: call.size });
        file.sizeSeen = call.size;
        return;
      case "sync begins":
        file.syncing = file.unsynced.length;
        return;
      case "sync":
        for (const one of file.unsynced.splice(0, file.syncing ?? Number.POSITIVE_INFINITY)) {
          settle(file, one);
        }
        file.syncing = null;
        return;
      case "remove":
        file.isRemoved = true;
        return;
    }
  }

  /** Files removed before it cannot reappear. */
  #syncFolder(): void {
    for (const [path, { isRemoved }] of this.#files) if (isRemoved) this.#files.delete(path);
  }

  #file(path: string): CutFile {
    let file = this.#files.get(path);
    if (file === undefined || file.isRemoved) {
      file = {
        bytes: new Uint8Array(65_536),
        size: 0,
        unsynced: [],
        syncing: null,
        sizeSeen: 0,
        isRemoved: false,
      };
      this.#files.set(path, file);
    }
    return file;
  }

  #write(file: CutFile, at: number, bytes: Uint8Array): void {
    file.unsynced.push({ kind: "write", at, bytes });
    file.sizeSeen = Math.max(file.sizeSeen, at + bytes.length);
  }

  /** Writes that a cut at this moment can lose. */
  get unsyncedCount(): number {
    let count = 0;
    for (const { unsynced } of this.#files.values()) count += unsynced.length;
    return count;
  }

  /** The content of the disk once the power is back, by path. */
  cut(random: Random, survival: Survival): Map<string, Uint8Array> {
    const found = new Map<string, Uint8Array>();
    for (const [path, file] of this.#files) {
      if (file.isRemoved && (survival === "all" || random.below(2) === 0)) continue;
      const left: CutFile = { ...file, bytes: file.bytes.slice() };
      for (const one of file.unsynced) {
        const chance = survival === "some" ? random.below(3) : survival === "all" ? 0 : 1;
        if (chance === 1) continue;
        if (chance === 0 || one.kind === "truncate") settle(left, one);
        else tear(left, one, random);
      }
      found.set(path, left.bytes.subarray(0, left.size));
    }
    return found;
  }
}

function settle(file: CutFile, one: Unsynced): void {
  if (one.kind === "truncate") {
    // Bytes beyond the new end read as zeros when the file grows again.
    file.bytes.fill(0, one.size);
    file.size = one.size;
    return;
  }
  const end = one.at + one.bytes.length;
  if (end > file.bytes.length) {
    const larger = new Uint8Array(2 * end);
    larger.set(file.bytes.subarray(0, file.size));
    file.bytes = larger;
  }
  file.bytes.set(one.bytes, one.at);
  file.size = Math.max(file.size, end);
}

/** Applies only some sectors of a write. */
function tear(
  file: CutFile,
  { at, bytes }: Extract<Unsynced, { kind: "write" }>,
  random: Random,
): void {
  let from = 0;
  while (from < bytes.length) {
    const to = Math.min(bytes.length, from + sectorBytes - ((at + from) % sectorBytes));
    if (random.below(2) === 0)
      settle(file, { kind: "write", at: at + from, bytes: bytes.subarray(from, to) });
    from = to;
  }
}
