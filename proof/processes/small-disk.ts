// A separate file system, small enough to fill. A limit on the size of a file does not reproduce
// what a process meets on a full disk.

import { closeSync, fsyncSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const diskKinds = ["tmpfs", "ext4"] as const;
export type DiskKind = (typeof diskKinds)[number];

const mebibyte = 1024 * 1024;
/** The smallest piece used to fill the rest of a disk. */
const pieceBytesMin = 512;

function run(...command: readonly string[]): boolean {
  const { exitCode } = Bun.spawnSync([...command], { stdio: ["ignore", "ignore", "ignore"] });
  return exitCode === 0;
}

/** If there is space for a part, the system writes that part. */
function writtenOf(file: number, bytes: number): number {
  try {
    return writeSync(file, new Uint8Array(bytes));
  } catch {
    return 0;
  }
}

/** Why such disks are unavailable here; `null` = they are available. */
export function whyNoDisk(kind: DiskKind): string | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "only root can mount a disk";
  if (kind === "ext4" && Bun.which("mkfs.ext4") === null) return "mkfs.ext4 is not installed";
  try {
    new SmallDisk(kind, 8)[Symbol.dispose]();
    return null;
  } catch {
    return `no ${kind} can be mounted here`;
  }
}

export class SmallDisk {
  /** The mount point. */
  readonly path: string;
  readonly #folder: string;
  readonly #filler: string;

  constructor(kind: DiskKind, mebibytes: number) {
    this.#folder = mkdtempSync(join(tmpdir(), "holdfast-disk-"));
    this.path = join(this.#folder, "mounted");
    this.#filler = join(this.path, "of-another-program");
    mkdirSync(this.path);
    if (this.#mount(kind, mebibytes)) return;
    rmSync(this.#folder, { recursive: true, force: true });
    throw new Error(`${kind} cannot be mounted`);
  }

  #mount(kind: DiskKind, mebibytes: number): boolean {
    if (kind === "tmpfs") {
      return run("mount", "-t", "tmpfs", "-o", `size=${mebibytes}m`, "tmpfs", this.path);
    }
    const image = join(this.#folder, "image");
    return (
      run("truncate", "-s", `${mebibytes}M`, image) &&
      run("mkfs.ext4", "-q", "-m", "0", image) &&
      run("mount", "-o", "loop", image, this.path)
    );
  }

  /** Another program takes all the space, or at most `bytesMax`; returns the bytes taken. */
  fill(bytesMax = Number.MAX_SAFE_INTEGER): number {
    const file = openSync(this.#filler, "a");
    let filled = 0;
    let piece = mebibyte;
    try {
      while (piece >= pieceBytesMin && filled < bytesMax) {
        const written = writtenOf(file, Math.min(piece, bytesMax - filled));
        filled += written;
        if (written < piece) piece /= 2;
      }
      fsyncSync(file);
    } catch {
      // The disk is full: the bytes written so far are what fitted.
    } finally {
      closeSync(file);
    }
    return filled;
  }

  /** The other program frees all of it. */
  free(): void {
    rmSync(this.#filler, { force: true });
  }

  [Symbol.dispose](): void {
    // Lazily: a process that was just killed may still hold a file open.
    run("umount", "-l", this.path);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
