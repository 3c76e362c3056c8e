// System tools that some tests need. Where one cannot be had, its tests report
// themselves as skipped, so nothing here fails.

/** Debian's packages by the command they bring. */
const tools = [{ command: "strace", debianPackage: "strace" }];

/** Installs what is missing where that is possible; says what stays missing. */
export function installTools(): void {
  const missing = tools.filter(({ command }) => Bun.which(command) === null);
  if (missing.length === 0) {
    return;
  }
  const names = missing.map(({ command }) => command).join(", ");
  if (process.getuid?.() !== 0 || Bun.which("apt-get") === null) {
    console.log(`Without ${names}, some tests are skipped; root installs them with apt-get.`);
    return;
  }
  console.log(`Installing ${names} ...`);
  const packages = missing.map(({ debianPackage }) => debianPackage);
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
