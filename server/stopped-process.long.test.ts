// The whole process is stopped and continues, as in a container that is paused.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../bench/server-process.ts";
import { limits } from "../engine/limits.ts";

test("a process that was stopped for long keeps its healthy shards", async () => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-stopped-"));
  const server = await startServer({ data: join(directory, "data"), flags: ["--shards", "2"] });
  try {
    process.kill(server.pid, "SIGSTOP");
    await Bun.sleep(limits.heartbeatSilenceMsMax + 2 * limits.heartbeatMs);
    process.kill(server.pid, "SIGCONT");
    // Longer than a heartbeat, so that the shards were judged.
    await Bun.sleep(3 * limits.heartbeatMs);
    const health = await fetch(`http://127.0.0.1:${server.port}/health`);
    expect(health.status).toBe(200);
    expect(server.log()).not.toContain("shard is down");
  } finally {
    await server.stop("SIGKILL");
    rmSync(directory, { recursive: true, force: true });
  }
});
