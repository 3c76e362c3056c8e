// For tests, pictures, measurements, and for what is packed: a site that is what the sources say.
// It is built only when one of them has changed since the last build.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inputsHash } from "./inputs-hash.ts";
import { folders } from "./site-folder.ts";

export async function ensureBuilt(): Promise<void> {
  if (isCurrent()) return;
  const command = [process.execPath, join(folders.root, "scripts/site.ts"), "build"];
  const child = Bun.spawn(command, { cwd: folders.root, stdout: "pipe", stderr: "pipe" });
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`the site could not be built\n${out}\n${error}`);
}

function isCurrent(): boolean {
  if (!existsSync(folders.manifest) || !existsSync(folders.site)) return false;
  const { inputs } = JSON.parse(readFileSync(folders.manifest, "utf8")) as { inputs: string };
  return inputs === inputsHash();
}
