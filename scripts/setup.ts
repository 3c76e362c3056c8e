// Prepares a fresh checkout: checks Bun's version and installs the packages of `bun.lock` that a
// purpose needs. Every command runs this first, so it imports only Bun's own modules, and a second
// run must cost almost nothing. A process that has installed packages cannot import them, because
// Bun caches that they were missing. Code that needs them runs in a later process (`prestart` in
// package.json).

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The root of the checkout. */
export const root = join(import.meta.dir, "..");

const installed = join(root, "node_modules", ".installed");

/**
 * The packages of each purpose, smallest first: a server needs `dependencies`, the build of the
 * site also `optionalDependencies`, the check all of them.
 */
const flagsFor = {
  serve: ["--production", "--omit=optional"],
  site: ["--production"],
  check: [],
} as const;
type Purpose = keyof typeof flagsFor;
const purposes = Object.keys(flagsFor) as readonly Purpose[];

/**
 * Installs the missing packages of the purpose. Ends the process with a clear message if this Bun
 * is too old or the packages cannot be installed.
 */
export function setUp(purpose: Purpose): void {
  const verdict = judgeBun({ running: Bun.version, pinned: pinnedBun() });
  if (verdict !== null) {
    console.error(verdict.text);
  }
  if (verdict?.fatal === true) {
    process.exit(1);
  }
  const wanted = fingerprint();
  const [former = "", formerPurpose = ""] = existsSync(installed)
    ? readFileSync(installed, "utf8").split(" ")
    : [];
  const rank = purposes.indexOf(purpose);
  const formerRank = purposes.indexOf(formerPurpose as Purpose);
  if (former === wanted && formerRank >= rank) {
    return;
  }
  console.error("Installing packages as bun.lock has them ...");
  // A checkout with more packages keeps them, at the new versions.
  const kept = purposes[Math.max(rank, formerRank)] ?? purpose;
  const command = [process.execPath, "install", "--frozen-lockfile", ...flagsFor[kept]];
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd: root });
  if (exitCode !== 0) {
    process.stderr.write(stderr);
    console.error(
      `packages are not installed; expected bun install to end with 0, got ${exitCode}`,
    );
    process.exit(1);
  }
  writeFileSync(installed, `${wanted} ${kept}`);
}

/** `packageManager` in package.json is the only place that defines Bun's version. */
function pinnedBun(): string {
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return String(packageManager).replace("bun@", "");
}

/**
 * Refuses an older Bun and reports a newer one: figures and limits were measured with the pinned
 * version.
 */
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

/** Changes whenever the packages to install may have changed. */
function fingerprint(): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const file of ["package.json", "bun.lock"]) {
    hash.update(readFileSync(join(root, file)));
  }
  return hash.digest("hex");
}

if (import.meta.main) {
  const [purpose = "serve"] = process.argv.slice(2);
  if (!purposes.includes(purpose as Purpose)) {
    console.error(`unexpected argument; expected ${purposes.join(" or ")}, got ${purpose}`);
    process.exit(2);
  }
  setUp(purpose as Purpose);
}
