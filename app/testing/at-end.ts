// What test files share stays open for all of them: `bunfig.toml` loads this before the first,
// and what it was told to close is closed after the last.

import { afterAll } from "bun:test";

const closers: (() => Promise<void>)[] = [];

export function closeAtEnd(close: () => Promise<void>): void {
  closers.push(close);
}

afterAll(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});
