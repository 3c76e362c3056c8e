import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Minutes: one that ends does so within a second, unless the machine has other things to do. */
const looksMax = 30_000;

test("startServer: a server ends with who started it, also when that is killed", async () => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-ends-"));
  const script = `
    import { startServer } from "${import.meta.dir}/server-process.ts";
    const { pid, port } = await startServer({ data: "${directory}/data" });
    console.log(JSON.stringify({ pid, port }));
    await new Promise(() => setInterval(() => undefined, 1_000));`;
  const starter = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  const { value } = await starter.stdout.getReader().read();
  const { pid, port } = JSON.parse(new TextDecoder().decode(value)) as Record<string, number>;
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/livez`).then(
      ({ ok }) => ok,
      () => false,
    );
  try {
    expect(await answers()).toBe(true);
    starter.kill("SIGKILL");
    for (let looks = 0; looks < looksMax && (await answers()); looks += 1) await Bun.sleep(10);
    expect(await answers()).toBe(false);
  } finally {
    if (await answers()) process.kill(Number(pid), "SIGKILL");
    rmSync(directory, { recursive: true });
  }
});
