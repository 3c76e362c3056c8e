import { expect, test } from "bun:test";

const script = `
  import { stopWhenOrphaned } from "${import.meta.dir}/orphan.ts";
  process.on("SIGTERM", () => { console.log("stopped"); process.exit(0); });
  setTimeout(() => { console.log("left running"); process.exit(0); }, 2_000);
  stopWhenOrphaned();
  console.log("ready");`;

/** What a process under a shell says after the shell was killed. */
async function saidAfterShellDied(env: Record<string, string | undefined>): Promise<string> {
  // A second command keeps the shell from becoming the first one.
  const shell = Bun.spawn(["sh", "-c", '"$0" -e "$1"; true', process.execPath, script], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const reader = shell.stdout.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toBe("ready\n");
  shell.kill("SIGTERM");
  return (await reader.read()).value ?? "";
}

// Elsewhere the shell becomes the command, and there is nothing to watch.
test.skipIf(process.platform !== "linux")(
  "stopWhenOrphaned: under npm, stops when the shell above it is gone",
  async () => {
    expect(await saidAfterShellDied({ ...process.env, npm_command: "exec" })).toBe("stopped\n");
  },
);

test("stopWhenOrphaned: without npm, a process may outlive its shell", async () => {
  const { npm_command: _, ...env } = process.env;
  expect(await saidAfterShellDied(env)).toBe("left running\n");
});
