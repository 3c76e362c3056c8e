// API keys of a real process: when it refuses to start, keys that change while it runs, TLS, and
// that no secret is printed.

import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exitCodes } from "../../../cli/exit-codes.ts";
import { runServer, startServer } from "../../../testing/server-process.ts";
import { newApiKey } from "../../auth/api-keys.ts";
import { failedAuthLimits } from "../../auth/failed-auth-limiter.ts";
import {
  otherKey,
  renewedCertificate,
  renewedKey,
  sampleCertificate,
  sampleKey,
} from "../../testing/tls-sample.ts";

function scratch() {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-keys-"));
  const write = (name: string, text: string) => {
    const path = join(directory, name);
    // Renamed into place, so that the server never reads a part of it.
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
    return path;
  };
  return {
    data: join(directory, "data"),
    absent: join(directory, "absent"),
    write,
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** One shard, so one thread: each thread checks the files only when it receives a request. */
async function start(data: string, flags: readonly string[]) {
  const server = await startServer({ data, flags: ["--store", "memory", ...flags] });
  return { ...server, [Symbol.asyncDispose]: async () => void (await server.stop("SIGKILL")) };
}

const [one, two] = [newApiKey("one"), newApiKey("two")];
const queue = { queue_name: "orders", lease_timeout: "1m", expire_timeout: "24h" };

test("start: an address beyond loopback is refused without keys, and nothing is created", async () => {
  using files = scratch();
  const run = await runServer(["--port", "0", "--host", "0.0.0.0", "--data", files.data]);
  expect(run.code).toBe(exitCodes.usage.code);
  expect(run.output).toBe(
    "host is reachable from other machines; expected --api-keys-file, --insecure or a " +
      'loopback address, got "0.0.0.0"\n',
  );
  expect(existsSync(files.data)).toBe(false);
});

test("start: a file without keys, or with a key in it, is refused without quoting it", async () => {
  using files = scratch();
  for (const path of [files.write("empty", "# none\n"), files.write("plain", one.key)]) {
    const run = await runServer(["--port", "0", "--data", files.data, "--api-keys-file", path]);
    expect(run.code).toBe(exitCodes.usage.code);
    expect(run.output).toStartWith("--api-keys-file is invalid; expected a file of API keys");
    expect(run.output).not.toContain(one.key);
    expect(existsSync(files.data)).toBe(false);
  }
});

test("start: TLS files that are not there or do not belong together are refused", async () => {
  using files = scratch();
  const cert = files.write("cert", sampleCertificate);
  const outcome = async (key: string) => {
    const tls = ["--tls-cert", cert, "--tls-key", key];
    return await runServer(["--port", "0", "--data", files.data, ...tls]);
  };
  const [absent, foreign] = await Promise.all([
    outcome(files.absent),
    outcome(files.write("other", otherKey)),
  ]);
  expect(absent).toMatchObject({
    code: 2,
    output: expect.stringContaining("--tls-key is invalid"),
  });
  expect(foreign).toEqual({
    code: 2,
    output: "--tls-key is invalid; expected the key of --tls-cert\n",
  });
  expect(existsSync(files.data)).toBe(false);
});

test("TLS: the server accepts HTTPS only", async () => {
  using files = scratch();
  const cert = files.write("cert", sampleCertificate);
  const tls = ["--tls-cert", cert, "--tls-key", files.write("key", sampleKey)];
  await using server = await start(files.data, tls);
  const trusting = { tls: { rejectUnauthorized: false } };
  const answer = await fetch(`https://127.0.0.1:${server.port}/health`, trusting);
  expect(answer.status).toBe(200);
  const clear = fetch(`http://127.0.0.1:${server.port}/health`).then(({ status }) => status);
  expect(await clear.catch(() => "refused")).not.toBe(200);
});

test("TLS: a renewed certificate is served without a restart", async () => {
  using files = scratch();
  const cert = files.write("cert", sampleCertificate);
  const tls = ["--tls-cert", cert, "--tls-key", files.write("key", sampleKey)];
  await using server = await start(files.data, tls);
  const trusts = async (ca: string) => {
    const health = fetch(`https://127.0.0.1:${server.port}/health`, {
      keepalive: false,
      tls: { ca },
    });
    return await health.then(({ ok }) => ok).catch(() => false);
  };
  expect([await trusts(sampleCertificate), await trusts(renewedCertificate)]).toEqual([
    true,
    false,
  ]);
  files.write("key", renewedKey);
  files.write("cert", renewedCertificate);
  while (!(await trusts(renewedCertificate))) await Bun.sleep(100);
  expect(await trusts(sampleCertificate)).toBe(false);
});

test("keys: every path except probes and pages needs one, and one can be added and withdrawn", async () => {
  using files = scratch();
  const path = files.write("keys", `${one.line}\n`);
  await using server = await start(files.data, ["--api-keys-file", path]);
  const url = `http://127.0.0.1:${server.port}`;
  const status = async (page: string, key?: string) => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    return (await fetch(url + page, { headers })).status;
  };
  const create = async (key?: string) => {
    const headers = {
      "content-type": "application/json",
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    };
    const init = { method: "POST", headers, body: JSON.stringify(queue) };
    const response = await fetch(`${url}/v1/queues.create`, init);
    return { status: response.status, body: await response.json() };
  };
  for (const probe of ["/health", "/livez", "/readyz"]) expect(await status(probe)).toBe(200);
  for (const page of ["/metrics", "/v1/queues.list", "/nowhere"]) {
    expect([page, await status(page)]).toEqual([page, 401]);
  }
  for (const page of ["/swagger", "/swagger/json"]) expect(await status(page)).toBe(200);
  expect(await create()).toMatchObject({
    status: 401,
    body: { code: 401, code_text: "Unauthorized" },
  });
  expect((await create(two.key)).status).toBe(401);
  expect((await create(one.key)).status).toBe(200);
  expect(await status("/metrics", one.key)).toBe(200);

  files.write("keys", `${two.line}\n`);
  while ((await status("/metrics", one.key)) === 200) await Bun.sleep(20);
  expect(await status("/metrics", two.key)).toBe(200);
  files.write("keys", "broken\n");
  while (!server.log().includes("failed to reload API keys")) {
    expect(await status("/metrics", two.key)).toBe(200);
    await Bun.sleep(20);
  }
  expect(await status("/metrics", two.key)).toBe(200);
});

test("log: the server prints no key, digest, payload or body", async () => {
  using files = scratch();
  const payload = "a-payload-that-must-not-be-logged";
  const path = files.write("keys", `${one.line}\n`);
  const flags = ["--api-keys-file", path, "--log-level", "debug"];
  await using server = await start(files.data, flags);
  const url = `http://127.0.0.1:${server.port}`;
  const post = async (page: string, body: string, authorization: string) => {
    const headers = { "content-type": "application/json", authorization };
    return (await fetch(url + page, { method: "POST", headers, body })).status;
  };
  const items = [{ utf8: payload, bytes: btoa(payload), reference: payload }];
  const produce = JSON.stringify({ queue_name: "orders", request_timeout: "1m", items });
  const right = `Bearer ${one.key}`;
  expect(await post("/v1/queues.create", JSON.stringify(queue), right)).toBe(200);
  expect(await post("/v1/queue.produce", produce, right)).toBe(200);
  expect(await post("/v1/queue.produce", `${produce}x`, right)).toBe(400);
  for (let count = 0; count < failedAuthLimits.countMax; count += 1) {
    expect(await post("/v1/queue.produce", produce, `Bearer ${two.key}`)).toBe(401);
  }
  expect(await post("/v1/queue.produce", produce, `Bearer ${two.key}`)).toBe(429);
  expect(await post("/v1/queue.produce", produce, right)).toBe(200);
  // The most likely mistake: the key instead of its digest.
  files.write("keys", `${one.line}\n${two.key}\n`);
  while (!server.log().includes("failed to reload API keys")) {
    expect(await post("/v1/queue.produce", produce, right)).toBe(200);
    await Bun.sleep(20);
  }
  await server.stop();
  const printed = await server.wholeLog();
  expect(printed).toContain("too many wrong API keys");
  expect(printed).toContain('"operation":"produce","key":"one","queue":"orders","code":200,');
  const secrets = [one, two].flatMap(({ key, line }) => [key, key.slice(9), line.slice(0, 64)]);
  for (const secret of [...secrets, "Bearer", payload, btoa(payload)]) {
    expect(printed).not.toContain(secret);
  }
});
