// How the client classifies the real errors of each runtime's `fetch`. Missing runtimes are
// skipped; Deno is a package that the check installs.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { denoPath } from "../scripts/testing/deno.ts";
import { sampleCertificate, sampleKey } from "../server/testing/tls-sample.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-runtimes-"));
const local = { hostname: "127.0.0.1", port: 0 } as const;

/** Prints the outcome of a produce to each address. */
const program = `
import { closeSync, openSync } from "node:fs";
import { createClient } from "./client.mjs";
const outcomes = {};
process.on("warning", ({ message }) => {
  outcomes.warning = message;
});
const files = [];
if (process.env.NO_FILES_LEFT) {
  // Lets the runtime open what its first request needs.
  await fetch("http://127.0.0.1:2").catch(() => undefined);
  try { for (;;) files.push(openSync("/dev/null")); } catch {}
}
for (const [name, url] of Object.entries(JSON.parse(process.env.URLS))) {
  const queue = createClient({ url, attemptsMax: 1 }).queue("orders");
  outcomes[name] = await queue.produce("x").then(() => "produced", (error) => error.code);
}
files.forEach((file) => closeSync(file));
const { many } = JSON.parse(process.env.URLS);
if (many) {
  for (const gather of [true, false]) {
    const client = createClient({ url: many, gather });
    const produced = Array.from({ length: 3_000 }, () => client.queue("orders").produce("x"));
    await Promise.all(produced);
  }
}
// Warnings are emitted in a later round of events.
await new Promise((resolve) => setTimeout(resolve));
console.log(JSON.stringify(outcomes));
// Open handles keep some runtimes alive.
process.exit();
`;

/** Prints the outcomes of calls to a silent server. Then the process must exit by itself. */
const waitingProgram = `
import { createClient } from "./client.mjs";
const { silent, silentTls, fine } = JSON.parse(process.env.URLS);
const client = createClient({ url: silent, attemptsMax: 1 });
const request = { queue_name: "orders" };
const outcomeOf = (call) => call.then(() => "answered", (error) => error.code ?? error);
const cancelling = new AbortController();
setTimeout(() => cancelling.abort("enough"), 50);
// Repeats with more time if a slow machine sent the call too late.
let late = "";
for (let timeoutMs = 1_000; late !== "unknown" && timeoutMs < 100_000; timeoutMs *= 4) {
  late = await outcomeOf(client.stats(request, { timeoutMs }));
}
const outcomes = {
  given: await outcomeOf(client.stats(request, { signal: cancelling.signal }).catch((reason) => {
    throw { code: reason };
  })),
  late,
  lateTls: await outcomeOf(createClient({ url: silentTls }).stats(request, { timeoutMs: 50 })),
  fine: await outcomeOf(createClient({ url: fine }).stats(request)),
};
console.log(JSON.stringify(outcomes));
`;

beforeAll(async () => {
  const built = await Bun.build({ entrypoints: [join(import.meta.dir, "index.ts")] });
  writeFileSync(join(folder, "client.mjs"), (await built.outputs[0]?.text()) ?? "");
  writeFileSync(join(folder, "program.mjs"), program);
  writeFileSync(join(folder, "waiting.mjs"), waitingProgram);
  writeFileSync(join(folder, "pooled.mjs"), pooledProgram);
  writeFileSync(join(folder, "ca.pem"), sampleCertificate);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A server that counts its connections, and delays each answer so that calls overlap. */
function counting() {
  const counts = { open: 0, most: 0, calls: 0 };
  const server = createServer((request, response) => {
    counts.calls += 1;
    request.resume().on("end", () => {
      setTimeout(() => {
        response.setHeader("content-type", "application/json");
        response.end('{"code":200,"code_text":"OK","message":""}');
      }, 5);
    });
  });
  server.on("connection", (socket) => {
    counts.open += 1;
    counts.most = Math.max(counts.most, counts.open);
    socket.on("close", () => {
      counts.open -= 1;
    });
  });
  return { counts, server };
}

async function portOf(server: Server): Promise<number | undefined> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" ? address?.port : undefined;
}

const runtimes = [
  ["Bun", [process.execPath]],
  ["Node", [Bun.which("node")]],
  ["Deno", [denoPath(), "run", "--allow-all"]],
] as const;
const installed = runtimes.flatMap(([name, [path, ...flags]]) =>
  path === null ? [] : [[name, [path, ...flags]] as const],
);

async function outcomesOf(
  argv: readonly string[],
  urls: Record<string, string>,
  env: Record<string, string> = {},
  file = "program.mjs",
) {
  const limited = env["NO_FILES_LEFT"] ? ["sh", "-c", 'ulimit -n 128; exec "$@"', "sh"] : [];
  const child = Bun.spawn([...limited, ...argv, join(folder, file)], {
    env: { ...process.env, ...env, URLS: JSON.stringify(urls) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(await new Response(child.stdout).text());
}

const answer = () => Response.json({ code: 200, code_text: "OK", message: "" });

test.each(installed)(
  "%s: a failed connection is unavailable; a failure after it is unknown",
  async (_, argv) => {
    await using plain = Bun.serve({ ...local, fetch: answer });
    await using secure = Bun.serve({
      ...local,
      fetch: answer,
      tls: { cert: sampleCertificate, key: sampleKey },
    });
    const breaking = Bun.listen({
      ...local,
      socket: { data: (socket) => void socket.terminate() },
    });
    const outcomes = await outcomesOf(argv, {
      // Nothing listens on this port, and the system does not assign it.
      refused: "http://127.0.0.1:2",
      unnamed: "http://nowhere.invalid:9090",
      untrusted: `https://127.0.0.1:${secure.port}`,
      withoutTls: `https://127.0.0.1:${plain.port}`,
      noHandshake: `https://127.0.0.1:${breaking.port}`,
      broken: `http://127.0.0.1:${breaking.port}`,
      fine: `http://127.0.0.1:${plain.port}`,
    });
    breaking.stop(true);
    expect(outcomes).toEqual({
      refused: "unavailable",
      unnamed: "unavailable",
      untrusted: "unavailable",
      withoutTls: "unavailable",
      noHandshake: "unavailable",
      broken: "unknown",
      fine: "produced",
    });
  },
);

// Deno does not accept a self-signed certificate like this one.
const trusting = installed.filter(([name]) => name !== "Deno");
const trust = { NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") };

test.each(trusting)(
  "%s: the outcome is unknown if TLS breaks after the call was sent",
  async (_, argv) => {
    const paths: unknown[] = [];
    const server = createSecureServer(
      { cert: sampleCertificate, key: sampleKey },
      (request, response) => {
        if (request.method !== "POST") return void response.end();
        paths.push(request.url);
        request.socket.destroy();
      },
    );
    const outcomes = await outcomesOf(
      argv,
      { broken: `https://localhost:${await portOf(server)}` },
      trust,
    );
    server.close();
    expect(outcomes).toEqual({ broken: "unknown" });
    expect(paths).toEqual(["/v1/queue.produce"]);
  },
);

test.each(installed)(
  "%s: a process that cannot open more files gets unavailable",
  async (_, argv) => {
    await using plain = Bun.serve({ ...local, fetch: answer });
    const urls = { plain: `http://127.0.0.1:${plain.port}` };
    expect(await outcomesOf(argv, urls, { NO_FILES_LEFT: "yes" })).toEqual({
      plain: "unavailable",
    });
  },
);

test.each(trusting)(
  "%s: the environment makes the runtime trust a private certificate",
  async (_, argv) => {
    await using secure = Bun.serve({
      ...local,
      fetch: answer,
      tls: { cert: sampleCertificate, key: sampleKey },
    });
    const urls = { secure: `https://localhost:${secure.port}` };
    expect(await outcomesOf(argv, urls, trust)).toEqual({ secure: "produced" });
  },
);

test.each(installed)(
  "%s: 3,000 concurrent produces use few connections, gathered or not",
  async (_, argv) => {
    const { counts, server } = counting();
    const outcomes = await outcomesOf(argv, { many: `http://127.0.0.1:${await portOf(server)}` });
    server.close();
    expect(outcomes).toEqual({ many: "produced" });
    // One alone, 3,000 batched into as few calls as possible, 3,000 in their own calls.
    expect(counts.calls).toBe(1 + 3 + 3_000);
    expect(counts.most).toBeLessThanOrEqual(256);
  },
);

test.each(installed)(
  "%s: a signal and a timeout end a call, and idle connections do not keep the process alive",
  async (name, argv) => {
    await using plain = Bun.serve({ ...local, fetch: answer });
    const silent = Bun.listen({ ...local, socket: { data: () => undefined } });
    const urls = {
      silent: `http://127.0.0.1:${silent.port}`,
      silentTls: `https://127.0.0.1:${silent.port}`,
      fine: `http://127.0.0.1:${plain.port}`,
    };
    const outcomes = await outcomesOf(argv, urls, {}, "waiting.mjs");
    silent.stop(true);
    expect(outcomes).toEqual({
      given: "enough",
      late: "unknown",
      // Deno does not report how far the request got.
      lateTls: name === "Deno" ? "unknown" : "unavailable",
      fine: "answered",
    });
  },
);

/** The second produce uses a pooled connection that died without an error. */
const pooledProgram = `
import { createClient } from "./client.mjs";
const queue = createClient({ url: JSON.parse(process.env.URLS).url }).queue("orders");
await queue.produce("a");
const outcomes = await queue.produce("b", { timeoutMs: 8_000 }).then(() => "produced", (error) => error.code);
console.log(JSON.stringify({ outcomes }));
process.exit();
`;

test.concurrent.each(installed)(
  "%s: a call on a silent pooled connection is copied to a new one, with the same key",
  async (_, argv) => {
    const requests: { connection: number; key: unknown }[] = [];
    const connections = new Map<object, number>();
    const server = createServer((request, response) => {
      const connection = connections.get(request.socket) ?? connections.size;
      const isPooled = connections.has(request.socket);
      connections.set(request.socket, connection);
      requests.push({ connection, key: request.headers["idempotency-key"] });
      request.resume();
      if (isPooled) return;
      response.setHeader("content-type", "application/json");
      response.end('{"code":200,"code_text":"OK","message":""}');
    });
    const url = `http://127.0.0.1:${await portOf(server)}`;
    expect(await outcomesOf(argv, { url }, {}, "pooled.mjs")).toEqual({ outcomes: "produced" });
    server.closeAllConnections();
    server.close();
    expect(requests.map(({ connection }) => connection)).toEqual([0, 0, 1]);
    expect(requests[2]?.key).toBe(requests[1]?.key ?? "none");
  },
);
