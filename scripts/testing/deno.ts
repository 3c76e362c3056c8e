// Deno, for the tests of what runs there.

import { join } from "node:path";

const packages = join(import.meta.dir, "../../node_modules/@deno");

/**
 * The program of the machine's package, where there is one: what `.bin` has is a script that
 * copies it first. Else the one on the path; `null` = neither.
 */
export function denoPath(): string | null {
  const [ours] = new Bun.Glob("*/deno{,.exe}").scanSync({ cwd: packages, absolute: true });
  return ours ?? Bun.which("deno");
}
