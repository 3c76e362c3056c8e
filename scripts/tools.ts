// System tools that some tests need. Where one cannot be had, its tests report
// themselves as skipped, so nothing here fails.

import { chromiumPath } from "../app/build/chromium-path.ts";

interface Tool {
  readonly name: string;
  readonly isThere: () => boolean;
  readonly debianPackages: readonly string[];
}

const tools: readonly Tool[] = [
  {
    name: "strace",
    isThere: () => Bun.which("strace") !== null,
    debianPackages: ["strace"],
  },
  {
    name: "Chromium",
    isThere: () => chromiumPath() !== null,
    // Without a font of its own a page has no text to measure.
    debianPackages: ["chromium", "fonts-liberation"],
  },
];

/** Installs what is missing where that is possible; says what stays missing. */
export function installTools(): void {
  const missing = tools.filter(({ isThere }) => !isThere());
  if (missing.length === 0) {
    return;
  }
  const names = missing.map(({ name }) => name).join(", ");
  if (process.getuid?.() !== 0 || Bun.which("apt-get") === null) {
    console.log(`Without ${names}, some tests are skipped; root installs them with apt-get.`);
    return;
  }
  console.log(`Installing ${names} ...`);
  const packages = missing.flatMap(({ debianPackages }) => debianPackages);
  const done = apt("update") && apt("install", "--yes", "--no-install-recommends", ...packages);
  if (!done) {
    console.log(`Without ${names}, some tests are skipped; apt-get could not install them.`);
  }
}

function apt(...args: readonly string[]): boolean {
  // Another package manager may be at work on a fresh machine; it is waited for.
  const command = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120", ...args];
  const { exitCode } = Bun.spawnSync(command, {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return exitCode === 0;
}
