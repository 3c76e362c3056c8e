// Finds Deno for tests.

import { join } from "node:path";

const packages = join(import.meta.dir, "../../node_modules/@deno");

/**
 * The program in this platform's package, if installed: `.bin` contains a script that copies it
 * first. Otherwise the one on the path; `null` = neither.
 */
export function denoPath(): string | null {
  const [ours] = new Bun.Glob("*/deno{,.exe}").scanSync({ cwd: packages, absolute: true });
  return ours ?? Bun.which("deno");
}
