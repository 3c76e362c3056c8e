// Makes a fresh checkout ready: the right Bun, and the packages of `bun.lock`.
// Every command goes through here first, so nothing but Bun's own modules may
// be imported, and a second run has to cost next to nothing. A process that has
// installed packages cannot import them, because Bun remembers that they were
// missing: what needs them starts after it (`prestart` in package.json).

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The checkout's folder. */
export const root = join(import.meta.dir, "..");

const installed = join(root, "node_modules", ".installed");

/** Ends the process with a clear line when this Bun is too old or the packages cannot be had. */
export function setUp(): void {
  const verdict = judgeBun({ running: Bun.version, pinned: pinnedBun() });
  if (verdict !== null) {
    console.error(verdict.text);
  }
  if (verdict?.fatal === true) {
    process.exit(1);
  }
  const wanted = fingerprint();
  if (existsSync(installed) && readFileSync(installed, "utf8") === wanted) {
    return;
  }
  console.error("Installing packages as bun.lock has them ...");
  const command = [process.execPath, "install", "--frozen-lockfile"];
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd: root });
  if (exitCode !== 0) {
    process.stderr.write(stderr);
    console.error(
      `packages are not installed; expected bun install to end with 0, got ${exitCode}`,
    );
    process.exit(1);
  }
  writeFileSync(installed, wanted);
}

/** The one place that names Bun's version is `packageManager` in package.json. */
function pinnedBun(): string {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return String(packageManager).replace("bun@", "");
}

/** An older Bun is refused, a newer one named: the figures and limits were measured with one. */
export function judgeBun(versions: {
  readonly running: string;
  readonly pinned: string;
}): { readonly fatal: boolean; readonly text: string } | null {
  const { running, pinned } = versions;
  switch (Bun.semver.order(running, pinned)) {
    case -1:
      return {
        fatal: true,
        text: `Bun is too old; expected ${pinned}, got ${running}. Get it with: npm install --global bun@${pinned}`,
      };
    case 0:
      return null;
    case 1:
      return {
        fatal: false,
        text: `Bun differs from the tested version; expected ${pinned}, got ${running}.`,
      };
  }
}

/** Changes whenever what has to be installed may have changed. */
function fingerprint(): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const file of ["package.json", "bun.lock"]) {
    hash.update(readFileSync(join(root, file)));
  }
  return hash.digest("hex");
}

if (import.meta.main) {
  setUp();
}
