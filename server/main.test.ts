import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitCodes } from "./cli.ts";

const main = join(import.meta.dir, "main.ts");
const folder = mkdtempSync(join(tmpdir(), "holdfast-main-"));
afterAll(() => rmSync(folder, { recursive: true }));

function run(...flags: string[]) {
  const child = Bun.spawn([process.execPath, main, ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, HOLDFAST_LOG_LEVEL: "error" },
  });
  return {
    child,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Runs to the end. */
async function outcome(...flags: string[]) {
  await using process = run(...flags);
  const { child } = process;
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, error };
}

/** Runs until it listens. */
async function serve(...flags: string[]) {
  const process = run("--port", "0", ...flags);
  let greeting = "";
  for await (const chunk of process.child.stdout) {
    greeting += new TextDecoder().decode(chunk);
    if (greeting.includes("items")) break;
  }
  const url = /http:\S+/.exec(greeting)?.[0] ?? "";
  return {
    ...process,
    url,
    greeting,
    post: (path: string, body: unknown) =>
      fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
  };
}

const queue = { queue_name: "orders", lease_timeout: "1m", expire_timeout: "24h" };
const lease = { queue_name: "orders", client_id: "worker-1", request_timeout: "1m" };
const produce = { queue_name: "orders", request_timeout: "1m", items: [{ utf8: "kept" }] };

test("help and version are printed, and a slip is named", async () => {
  const [help, version, slip, flag] = await Promise.all([
    outcome("--help"),
    outcome("--version"),
    outcome("sevre"),
    outcome("--prot", "1"),
  ]);
  expect(help).toMatchObject({ code: 0, error: "", out: expect.stringContaining("--port") });
  expect(version.out).toMatch(/^holdfast \d+\.\d+\.\d+\n$/);
  expect(slip).toMatchObject({ code: exitCodes.usage.code, out: "" });
  expect(slip.error).toStartWith("unknown command; ");
  expect(flag).toMatchObject({ code: exitCodes.usage.code, out: "" });
  expect(flag.error).toContain("--port");
});

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s: waiting leases are answered 503 and the process ends with 0",
  async (signal) => {
    await using server = await serve("--store", "memory");
    expect(server.greeting).toContain(`${server.url}/swagger`);
    await server.post("/v1/queues.create", queue);
    const waiting = server.post("/v1/queue.lease", lease);
    const metrics = async () => (await fetch(`${server.url}/metrics`)).text();
    while (!(await metrics()).includes("holdfast_waiting_leases 1\n")) await Bun.sleep(5);
    server.child.kill(signal);
    expect((await waiting).status).toBe(503);
    expect(await server.child.exited).toBe(exitCodes.ok.code);
  },
);

test("items outlive the process, and its folder and port are its own", async () => {
  const data = join(folder, "data");
  {
    await using server = await serve("--data", data, "--shards", "2");
    const { port } = new URL(server.url);
    await server.post("/v1/queues.create", queue);
    expect((await server.post("/v1/queue.produce", produce)).status).toBe(200);
    const [folderTaken, portTaken] = await Promise.all([
      outcome("--port", "0", "--data", data),
      outcome("--port", port, "--data", join(folder, "other")),
    ]);
    expect(folderTaken).toMatchObject({ code: exitCodes.taken.code, out: "" });
    expect(folderTaken.error).toContain(data);
    expect(portTaken).toEqual({
      code: exitCodes.taken.code,
      out: "",
      error: `port is taken; another program listens on 127.0.0.1:${port}\n`,
    });
    server.child.kill("SIGTERM");
    expect(await server.child.exited).toBe(exitCodes.ok.code);
  }
  await using again = await serve("--data", data, "--shards", "2");
  const { items } = (await (await again.post("/v1/queue.lease", lease)).json()) as {
    items: { bytes: string }[];
  };
  expect(items.map(({ bytes }) => Buffer.from(bytes, "base64").toString())).toEqual(["kept"]);
});
