// The folder for files that checks write and remove many times per second.

import { existsSync } from "node:fs";
import { tmpdir } from "node:os";

const inMemory = "/dev/shm";

/** A folder in memory if the system has one. */
export function memoryFolder(): string {
  return existsSync(inMemory) ? inMemory : tmpdir();
}
