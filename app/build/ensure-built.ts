// Builds the site for tests, pictures, measurements and packages, only if its sources have changed
// since the last build.

import { existsSync, readFileSync } from "node:fs";
import { $ } from "bun";
import { inputsHash } from "./inputs-hash.ts";
import { folders } from "./site-folder.ts";

export async function ensureBuilt(): Promise<void> {
  if (isCurrent()) return;
  const command = $`${process.execPath} scripts/site.ts build`.cwd(folders.root);
  const { exitCode, stdout, stderr } = await command.quiet().nothrow();
  if (exitCode !== 0) throw new Error(`the site could not be built\n${stdout}\n${stderr}`);
}

/** Whether the sources are unchanged since the last build. */
export function isCurrent(): boolean {
  if (!existsSync(folders.manifest) || !existsSync(folders.site)) return false;
  const { inputs } = JSON.parse(readFileSync(folders.manifest, "utf8")) as { inputs: string };
  return inputs === inputsHash();
}
