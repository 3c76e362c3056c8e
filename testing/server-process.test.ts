import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A process that exits does so before the second check; a stalled machine may need more. */
const looksMax = 6_000;

/** Whether the process exists and is not a zombie. */
function isRunning(pid: number): boolean {
  try {
    const [, state] = /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return state !== "Z";
  } catch {
    return false;
  }
}

test("startServer: a server ends with the process that started it, also if that is killed", async () => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-ends-"));
  const script = `
    import { startServer } from "${import.meta.dir}/server-process.ts";
    const { pid, port } = await startServer({ data: "${directory}/data" });
    console.log(JSON.stringify({ pid, port }));
    await new Promise(() => setInterval(() => undefined, 1_000));`;
  const starter = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  const { value } = await starter.stdout.getReader().read();
  const { pid = 0, port } = JSON.parse(new TextDecoder().decode(value)) as Record<string, number>;
  try {
    // Checks the process, because another server may already use its port.
    expect(isRunning(pid)).toBe(true);
    expect((await fetch(`http://127.0.0.1:${port}/livez`)).ok).toBe(true);
    starter.kill("SIGKILL");
    for (let looks = 0; looks < looksMax && isRunning(pid); looks += 1) await Bun.sleep(10);
    expect(isRunning(pid)).toBe(false);
  } finally {
    if (isRunning(pid)) process.kill(pid, "SIGKILL");
    rmSync(directory, { recursive: true });
  }
});
