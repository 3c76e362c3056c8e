// Makes a fresh checkout ready: the right Bun, and the packages of `bun.lock` that a purpose needs.
// Every command goes through here first, so nothing but Bun's own modules may
// be imported, and a second run has to cost next to nothing. A process that has
// installed packages cannot import them, because Bun remembers that they were
// missing: what needs them starts after it (`prestart` in package.json).

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The checkout's folder. */
export const root = join(import.meta.dir, "..");

const installed = join(root, "node_modules", ".installed");

/**
 * What each purpose needs of package.json, smallest first: a server its `dependencies`, the build
 * of the site `optionalDependencies` as well, the check all of them.
 */
const flagsFor = {
  serve: ["--production", "--omit=optional"],
  site: ["--production"],
  check: [],
} as const;
type Purpose = keyof typeof flagsFor;
const purposes = Object.keys(flagsFor) as readonly Purpose[];

/**
 * Installs what the purpose needs and is missing. Ends the process with a clear line when this Bun
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
  // A checkout that has more keeps it, at the new versions.
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
  const [purpose = "serve"] = process.argv.slice(2);
  if (!purposes.includes(purpose as Purpose)) {
    console.error(`unexpected argument; expected ${purposes.join(" or ")}, got ${purpose}`);
    process.exit(2);
  }
  setUp(purpose as Purpose);
}
