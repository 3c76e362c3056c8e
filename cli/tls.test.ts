// A server whose certificate is trusted only with `--ca`.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../client/client.ts";
import { renewedCertificate, sampleCertificate, sampleKey } from "../server/testing/tls-sample.ts";
import { type ServerProcess, startServer } from "../testing/server-process.ts";
import { exitCodes } from "./exit-codes.ts";
import { runInProcess } from "./testing/in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-tls-"));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const certificate = file("cert.pem", sampleCertificate);
let server: ServerProcess;

beforeAll(async () => {
  const flags = ["--tls-cert", certificate, "--tls-key", file("key.pem", sampleKey)];
  server = await startServer({ data: join(folder, "data"), flags });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

function run(words: readonly string[], env: Record<string, string> = {}) {
  const url = `https://127.0.0.1:${server.port}`;
  return runInProcess(words, { env: { HOLDFAST_URL: url, ...env } });
}

test("--ca: the given certificate is trusted, as a flag or a variable", async () => {
  expect(await run(["queues", "create", "orders", "--ca", certificate])).toEqual({
    code: 0,
    out: "created orders\n",
    error: "",
  });
  const produced = await run(["produce", "orders", "a"], { HOLDFAST_CA: certificate });
  expect(produced).toEqual({ code: 0, out: "produced 1 item into orders\n", error: "" });
  const words = ["completions", "complete", "--", "stats", "ord"];
  expect((await run(words, { HOLDFAST_CA: certificate })).out).toStartWith("orders\t");
});

test("--ca: without it, or with another certificate, nothing is sent", async () => {
  const other = file("other.pem", renewedCertificate);
  for (const words of [[], ["--ca", other]]) {
    const { code, out, error } = await run(["produce", "orders", "b", ...words]);
    expect({ code, out }).toEqual({ code: exitCodes.unreachable.code, out: "" });
    expect(error).toContain("the server cannot be reached at https://127.0.0.1:");
    expect(error).toContain("certificate");
  }
});

test("--ca: a file that is absent or not a certificate is a usage error", async () => {
  const text = file("text.pem", "no PEM");
  const absent = join(folder, "absent.pem");
  for (const [path, fault] of [
    [text, `error: --ca is invalid; expected a certificate in PEM, got '${text}'\nUsage: `],
    [absent, "error: file cannot be read or written; ENOENT: "],
  ] as const) {
    const { code, error } = await run(["stats", "orders", "--ca", path]);
    expect(code).toBe(exitCodes.usage.code);
    expect(error).toStartWith(fault);
  }
});

test("http:// at a port that speaks TLS: the error says https://, and nothing is repeated", async () => {
  const url = `http://127.0.0.1:${server.port}`;
  const hint = `the server speaks HTTPS; expected a url with https://, got '${url}'`;
  for (const words of [
    ["queues", "list"],
    ["produce", "orders", "a"],
    ["queues", "list", "--ca", certificate],
  ]) {
    const { code, out, error } = await run(words, { HOLDFAST_URL: url });
    expect({ code, out }).toEqual({ code: exitCodes.unknown.code, out: "" });
    expect(error).toStartWith(`error: the connection broke; ${hint}\n`);
  }
  const client = createClient({ url });
  const failed = client.listQueues({ pivot: "", limit: 1 }).catch((error: unknown) => error);
  expect(await failed).toMatchObject({ code: "unknown", message: expect.stringContaining(hint) });
});

test("http:// at a port that speaks TLS, after another address has answered: the error says https://", async () => {
  const plain = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json({}) });
  const secure = `http://127.0.0.1:${server.port}`;
  const pace = { baseMs: 1, capMs: 1 };
  const client = createClient({ url: [`${plain.url}`, secure], pace, attemptsMax: 5 });
  await client.listQueues({ pivot: "", limit: 1 });
  await plain.stop(true);
  const failed = client.listQueues({ pivot: "", limit: 1 }).catch((error: unknown) => error);
  const hint = `the server speaks HTTPS; expected a url with https://, got '${secure}'`;
  expect(await failed).toMatchObject({ code: "unknown", message: expect.stringContaining(hint) });
});

test("http:// at a port that closes connections without TLS: the error says only that", async () => {
  const closing = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.terminate() },
  });
  try {
    const client = createClient({ url: `http://127.0.0.1:${closing.port}`, attemptsMax: 1 });
    const error = await client.listQueues({ pivot: "", limit: 1 }).catch((cause: Error) => cause);
    expect(error).toMatchObject({ code: "unknown" });
    expect(`${error}`).not.toContain("HTTPS");
  } finally {
    closing.stop(true);
  }
});
