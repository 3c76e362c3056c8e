// Checks that one process may trace another here: the program may be installed while the kernel or
// the container refuses it.

/** Why tracing is impossible here; `null` = it is possible. */
export function whyUntraceable(): string | null {
  if (Bun.which("strace") === null) return "strace is not installed";
  const { exitCode } = Bun.spawnSync(["strace", "-f", "-o", "/dev/null", "true"], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  return exitCode === 0 ? null : "strace may not trace processes here";
}
