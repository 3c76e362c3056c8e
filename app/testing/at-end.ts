// Keeps resources shared by test files open: `bunfig.toml` loads this before the first file, and it
// closes registered resources after the last.

import { afterAll } from "bun:test";

const closers: (() => Promise<void>)[] = [];

export function closeAtEnd(close: () => Promise<void>): void {
  closers.push(close);
}

afterAll(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});
