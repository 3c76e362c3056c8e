// Where proofs put files that are written and thrown away many times a second.

import { existsSync } from "node:fs";
import { tmpdir } from "node:os";

const inMemory = "/dev/shm";

/** A folder in memory where the system has one. */
export function memoryFolder(): string {
  return existsSync(inMemory) ? inMemory : tmpdir();
}
