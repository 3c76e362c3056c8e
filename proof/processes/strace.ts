// Whether this machine lets one process trace another: the program may be there
// and the kernel, or the container, refuse it.

/** Why nothing can be traced here; `null` = it can. */
export function whyUntraceable(): string | null {
  if (Bun.which("strace") === null) return "strace is not installed";
  const { exitCode } = Bun.spawnSync(["strace", "-f", "-o", "/dev/null", "true"], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  return exitCode === 0 ? null : "strace may not trace processes here";
}
