// System tools that some tests need, or are faster with. If a tool cannot be installed, its tests
// are reported as skipped or take longer, so nothing here fails.

import { existsSync } from "node:fs";
import { chromiumPath, shellCommands } from "./chromium.ts";

interface Tool {
  readonly name: string;
  readonly isThere: () => boolean;
  readonly debianPackages: readonly string[];
  /** What happens to its tests without the tool. */
  readonly without: string;
}

const tools: readonly Tool[] = [
  {
    name: "strace",
    isThere: () => Bun.which("strace") !== null,
    debianPackages: ["strace"],
    without: "some tests are skipped",
  },
  {
    name: "curl",
    isThere: () => Bun.which("curl") !== null,
    debianPackages: ["curl"],
    without: "the tests of what the docs paste fail",
  },
  {
    name: "faketime",
    isThere: () => Bun.which("faketime") !== null,
    debianPackages: ["faketime"],
    without: "some tests are skipped",
  },
  {
    name: "Chromium",
    isThere: () => chromiumPath() !== null,
    // Without an installed font, a page has no text to measure.
    debianPackages: ["chromium", "fonts-liberation"],
    without: "some tests are skipped",
  },
  {
    name: "Chromium's shell",
    isThere: () => shellCommands.some((command) => Bun.which(command) !== null),
    debianPackages: ["chromium-headless-shell"],
    without: "tests of the site take longer",
  },
  {
    name: "PostgreSQL's own programs",
    isThere: () => existsSync("/usr/lib/postgresql"),
    debianPackages: ["postgresql"],
    without: "some tests are skipped",
  },
  {
    name: "pgbouncer",
    isThere: () => existsSync("/usr/sbin/pgbouncer"),
    debianPackages: ["pgbouncer"],
    without: "some tests are skipped",
  },
  {
    name: "HAProxy",
    isThere: () => Bun.which("haproxy") !== null,
    debianPackages: ["haproxy"],
    without: "some tests are skipped",
  },
];

/** Installs missing tools if possible, and reports those that stay missing. */
export function installTools(): void {
  const missing = tools.filter(({ isThere }) => !isThere());
  if (missing.length === 0) {
    return;
  }
  if (process.getuid?.() !== 0 || Bun.which("apt-get") === null) {
    for (const { name, without } of missing) {
      console.log(`Without ${name}, ${without}; root installs it with apt-get.`);
    }
    return;
  }
  console.log(`Installing ${missing.map(({ name }) => name).join(", ")} ...`);
  const isUpdated = apt("update");
  // One by one: a package missing from a system would block the others.
  for (const { name, without, debianPackages } of missing) {
    const install = ["install", "--yes", "--no-install-recommends", ...debianPackages];
    if (isUpdated && apt(...install)) continue;
    console.log(`Without ${name}, ${without}; apt-get could not install it.`);
  }
}

function apt(...args: readonly string[]): boolean {
  // Wait for another package manager, which may be running on a fresh machine.
  const command = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120", ...args];
  const { exitCode } = Bun.spawnSync(command, {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return exitCode === 0;
}
