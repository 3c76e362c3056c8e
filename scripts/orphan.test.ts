import { expect, test } from "bun:test";

const script = `
  import { stopWhenOrphaned } from "${import.meta.dir}/orphan.ts";
  process.on("SIGTERM", () => { console.log("stopped"); process.exit(0); });
  process.stdin.resume().on("end", () => {
    setTimeout(() => { console.log("left running"); process.exit(0); }, 2_000);
  });
  stopWhenOrphaned();
  console.log("ready");`;

/** Kills the shell above a process; returns its output and what ended it within two seconds. */
async function shellDied(env: Record<string, string | undefined>) {
  // A second command prevents the shell from exec'ing the first one.
  const shell = Bun.spawn(["sh", "-c", '"$0" -e "$1"; true', process.execPath, script], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const reader = shell.stdout.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toBe("ready\n");
  shell.kill("SIGTERM");
  await shell.exited;
  return { said: async () => (await reader.read()).value, end: () => shell.stdin.end() };
}

// On other systems the shell execs the command, so there is nothing to watch.
test.skipIf(process.platform !== "linux")(
  "stopWhenOrphaned: under npm, stops when the shell above it is gone",
  async () => {
    const { said, end } = await shellDied({ ...process.env, npm_command: "exec" });
    expect(await said()).toBe("stopped\n");
    await end();
  },
);

test("stopWhenOrphaned: without npm, a process may outlive its shell", async () => {
  const { npm_command: _, ...env } = process.env;
  const { said, end } = await shellDied(env);
  await end();
  expect(await said()).toBe("left running\n");
});
