// Texts printed instead of serving, both names of the command, and SIGINT. The rest is tested in
// `server/behaviour/process/start-and-stop.long.test.ts`.

import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../client/client.ts";
import { exitCodes } from "./exit-codes.ts";

const command = [join(import.meta.dir, "main.ts"), "serve"];
const bunStart = [join(import.meta.dir, "../scripts/start.ts")];

function run(...words: string[]) {
  const child = Bun.spawn([process.execPath, ...words], {
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
async function outcome(...words: string[]) {
  await using process = run(...words);
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
  const process = run(...command, "--port", "0", ...flags);
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

test.each([
  ["holdfast serve", command],
  ["bun start", bunStart],
])("%s: help and version are printed", async (_, words) => {
  const [help, version] = await Promise.all([
    outcome(...words, "--help"),
    outcome(...words, "--version"),
  ]);
  expect(help.out).toStartWith("Usage: holdfast serve [flags]\n       bun start [flags] ");
  expect(help).toMatchObject({ code: 0, error: "", out: expect.stringContaining("--port") });
  expect(version.out).toMatch(/^holdfast \d+\.\d+\.\d+\n$/);
});

test("serve: a misspelt command or flag is named", async () => {
  const [slip, flag] = await Promise.all([
    outcome(...bunStart, "sevre"),
    outcome(...command, "--prot", "1"),
  ]);
  expect(slip).toMatchObject({ code: exitCodes.usage.code, out: "" });
  expect(slip.error).toStartWith("error: unknown command 'sevre'\n(Did you mean serve?)\n");
  expect(flag).toMatchObject({ code: exitCodes.usage.code, out: "" });
  expect(flag.error).toContain("(did you mean --port?)");
});

test("serve: a disk that fails at the start ends the process with an error", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-serve-"));
  const data = join(folder, "data");
  const start = `trap "" XFSZ; ulimit -f 16; exec "$@"`;
  const argv = [process.execPath, ...command, "--port", "0", "--data", data, "--shards", "1"];
  const child = Bun.spawn(["sh", "-c", start, "sh", ...argv], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  rmSync(folder, { recursive: true, force: true });
  expect({ out, error, code }).toEqual({
    out: "",
    error: `the store failed; disk I/O error; data folder '${data}'\n`,
    code: exitCodes.disk.code,
  });
});

test("serve: the quick start shows the output of a start", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-serve-"));
  await using server = await serve("--shards", "1", "--data", join(folder, "data"));
  const page = readFileSync(join(import.meta.dir, "../content/docs/quick-start.mdx"), "utf8");
  const shown = /^```text\n(Holdfast .+?\n)```$/ms.exec(page)?.[1] ?? "";
  const printed = server.greeting
    .replaceAll(server.url.replace(/\/$/, ""), "http://127.0.0.1:9090")
    .replace(folder, ".");
  rmSync(folder, { recursive: true, force: true });
  // Without a build there is no site to print.
  const isBuilt = printed.includes("  site ");
  expect(printed).toBe(isBuilt ? shown : shown.replace(/^ {2}(console|site) .+\n/gm, ""));
  expect(shown).toContain("  site ");
});

test("SIGINT: waiting leases are answered 503 and the process ends with 0", async () => {
  await using server = await serve("--store", "memory");
  expect(server.greeting).toContain(`${server.url}/swagger`);
  expect((await createClient({ url: server.url }).health()).store).toBe("memory");
  await server.post("/v1/queues.create", queue);
  const waiting = server.post("/v1/queue.lease", lease);
  const metrics = async () => (await fetch(`${server.url}/metrics`)).text();
  while (!(await metrics()).includes("holdfast_waiting_leases 1\n")) await Bun.sleep(5);
  server.child.kill("SIGINT");
  expect((await waiting).status).toBe(503);
  expect(await server.child.exited).toBe(exitCodes.ok.code);
});
