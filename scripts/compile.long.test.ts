// Tests the single executable in an empty folder without the checkout: it serves the API and the
// site, and keeps its items.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBuilt } from "../app/build/ensure-built.ts";
import { firstCalls } from "../openapi/first-calls.ts";
import { Connection } from "../testing/http-client.ts";

const root = join(import.meta.dir, "..");
const scratch = mkdtempSync(join(tmpdir(), "holdfast-executable-"));
const executable = join(scratch, "holdfast");
const folder = join(scratch, "empty");

beforeAll(async () => {
  await ensureBuilt();
  mkdirSync(folder);
  const command = [process.execPath, join(root, "scripts/compile.ts"), "--outfile", executable];
  const child = Bun.spawn(command, { cwd: scratch, stdout: "pipe", stderr: "pipe" });
  const output = await new Response(child.stderr).text();
  expect([await child.exited, output]).toEqual([0, ""]);
});

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Only PATH is inherited. */
const environment = { PATH: process.env["PATH"] ?? "" };

async function serve(...flags: string[]) {
  const child = Bun.spawn([executable, "--port", "0", ...flags], {
    cwd: folder,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let greeting = "";
  for await (const chunk of child.stdout) {
    greeting += new TextDecoder().decode(chunk);
    if (greeting.includes("items")) break;
  }
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(greeting)?.[1]);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      child.kill("SIGTERM");
      return child.exited;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

function checkHealth(port: number): number {
  const command = [executable, "healthcheck", "--port", String(port)];
  return Bun.spawnSync(command, { cwd: folder, env: environment, stderr: "ignore" }).exitCode;
}

test("executable: the first calls produce, lease and complete an item", async () => {
  await using server = await serve();
  const calls = firstCalls.replace("localhost:9090", `127.0.0.1:${server.port}`);
  const printed = await Bun.$`sh -c ${calls}`.quiet().text();
  const replies = printed
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const [lease] = replies.splice(3, 1);
  expect(replies.map(({ code }) => code)).toEqual([200, 200, 200, 200]);
  expect(lease.items).toMatchObject([{ bytes: "dHdvIGFuY2hvcnM=" }]);
  expect(await server.stop()).toBe(0);
  expect(readdirSync(join(folder, "data"))).toContain("shard-0.db");
});

test("executable: the site, the description of the API and the health check are inside", async () => {
  await using server = await serve();
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(server.url + path, { headers });
    return { status: response.status, text: await response.text() };
  };
  const home = await get("/");
  expect(home.status).toBe(200);
  expect(home.text).toContain("<title>");
  const intro = await get("/docs/intro");
  expect(intro.status).toBe(200);
  expect(intro.text).toContain("<h1");
  const [, script = ""] = /"(\/assets\/[^"]+\.js)"/.exec(intro.text) ?? [];
  expect((await get(script)).status).toBe(200);
  expect((await get("/docs/intro", { "accept-encoding": "identity" })).text).toBe(intro.text);
  expect((await get("/swagger")).status).toBe(200);
  const { text } = await get("/swagger/json");
  expect(text).toBe(readFileSync(join(root, "openapi/openapi.json"), "utf8"));
  expect(checkHealth(server.port)).toBe(0);
  expect(await server.stop()).toBe(0);
  expect(checkHealth(server.port)).toBe(1);
});

test("executable: a backup is made, checked and restored by it", async () => {
  const backups = join(scratch, "backups");
  await using server = await serve("--backups", backups);
  const command = (...words: string[]) => {
    const options = { cwd: folder, env: environment, stdout: "pipe", stderr: "inherit" } as const;
    const run = Bun.spawnSync([executable, "--url", server.url, ...words], options);
    return { code: run.exitCode, out: run.stdout.toString() };
  };
  expect(command("queues", "create", "saved").code).toBe(0);
  expect(command("produce", "saved", "a", "b").code).toBe(0);
  expect(command("backup")).toMatchObject({ code: 0, out: expect.stringMatching(/checked: \d/) });
  const [name = ""] = readdirSync(backups);
  const restored = join(scratch, "restored");
  expect(command("restore", join(backups, name), "--data", restored).code).toBe(0);
  expect(readdirSync(restored)).toContain("shard-0.db");
});

test("executable: what was accepted is there after a restart", async () => {
  const timed = { queue_name: "kept", request_timeout: "1m" };
  {
    await using server = await serve();
    const connection = await Connection.open(server.port);
    const queue = { queue_name: "kept", lease_timeout: "1m", expire_timeout: "1h" };
    await connection.post("/v1/queues.create", JSON.stringify(queue));
    const items = [{ utf8: "a" }, { utf8: "b" }];
    await connection.post("/v1/queue.produce", JSON.stringify({ ...timed, items }));
    connection.close();
  }
  await using server = await serve();
  const connection = await Connection.open(server.port);
  const lease = { ...timed, client_id: "one", batch_size: 2 };
  const reply = await connection.post("/v1/queue.lease", JSON.stringify(lease));
  connection.close();
  expect(JSON.parse(reply.body).items).toMatchObject([{ bytes: btoa("a") }, { bytes: btoa("b") }]);
});

test("executable: help, version and a slip are as from the checkout", () => {
  const ran = (...words: string[]) => {
    const options = { cwd: folder, env: environment, stdout: "pipe", stderr: "pipe" } as const;
    const { exitCode, stdout, stderr } = Bun.spawnSync([executable, ...words], options);
    return { exitCode, out: stdout.toString(), error: stderr.toString() };
  };
  expect(ran("--version")).toMatchObject({
    exitCode: 0,
    out: expect.stringMatching(/^holdfast \d/),
  });
  expect(ran("--help").out).toContain("restore");
  expect(ran("serve", "--help").out).toContain("--port");
  expect(ran("--prot", "1")).toMatchObject({ exitCode: 2, out: "" });
  expect(ran("healthcheck", "--port", "x")).toMatchObject({
    exitCode: 2,
    error: '--port is invalid; expected a whole number from 0 to 65535, got "x"\n',
  });
});

test("compile: a slip on its command line is named", () => {
  const command = [process.execPath, join(root, "scripts/compile.ts"), "--outflie", "x"];
  const { exitCode, stderr } = Bun.spawnSync(command, { cwd: scratch, stderr: "pipe" });
  expect(exitCode).toBe(2);
  expect(stderr.toString()).toBe(
    'unexpected argument; expected --outfile FILE, got "--outflie x"\n',
  );
});
