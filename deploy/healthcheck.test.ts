// Tests the executable's commands other than `serve`, run from the sources: the health check, also
// with TLS and keys, and the making of a key.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findKey, newApiKey, parseApiKeys } from "../server/auth/api-keys.ts";
import { sampleCertificate, sampleKey } from "../server/testing/tls-sample.ts";
import { startServer } from "../testing/server-process.ts";

function scratch() {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-deploy-"));
  const write = (name: string, text: string) => {
    const path = join(directory, name);
    writeFileSync(path, text);
    return path;
  };
  return {
    data: join(directory, "data"),
    write,
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function run(...words: string[]): { code: number; out: string } {
  const { code, out } = runFile("executable.ts", words);
  return { code, out };
}

/** Kills it if it serves instead of exiting. */
function runFile(file: string, words: readonly string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    [process.execPath, join(import.meta.dir, file), ...words],
    {
      env: { PATH: process.env["PATH"] ?? "", HOLDFAST_STORE: "memory", HOLDFAST_PORT: "0" },
      ...{ stdout: "pipe", stderr: "pipe", timeout: 20_000 },
    },
  );
  return { code: exitCode, out: stdout.toString(), error: stderr.toString() };
}

test("healthcheck: a server with TLS and keys is checked over TLS, without a key", async () => {
  using files = scratch();
  const flags = [
    ...["--tls-cert", files.write("cert", sampleCertificate)],
    ...["--tls-key", files.write("key", sampleKey)],
    ...["--api-keys-file", files.write("keys", newApiKey("one").line)],
  ];
  const server = await startServer({ data: files.data, flags: ["--store", "memory", ...flags] });
  const port = String(server.port);
  try {
    const healthy = run("healthcheck", "--port", port, ...flags);
    expect(healthy.code).toBe(0);
    expect(JSON.parse(healthy.out)).toMatchObject({ status: "ok" });
    expect(run("healthcheck", "--port", port)).toMatchObject({ code: 1 });
  } finally {
    await server.stop();
  }
  expect(run("healthcheck", "--port", port, ...flags)).toMatchObject({ code: 1 });
});

test("healthcheck: settings that the server would not start with are a fault", () => {
  expect(run("healthcheck", "--host", "0.0.0.0")).toEqual({ code: 2, out: "" });
});

test("commands: flags alone are the server's, other words those of the command line", () => {
  expect(run("--port", "x")).toEqual({ code: 2, out: "" });
  expect(run("backup", "--help").out).toContain("make the server write a backup");
  expect(run("--url", "http://localhost:1", "inspect", "--help").out).toContain("inspect");
  expect(run("produze")).toEqual({ code: 2, out: "" });
});

test("commands: the word alone prints the help, and serves nothing", () => {
  for (const file of ["executable.ts", "../cli/main.ts"]) {
    const { code, out, error } = runFile(file, []);
    expect({ file, code, error }).toEqual({ file, code: 0, error: "" });
    expect(out).toStartWith("Usage: holdfast [options] [command]\n");
    expect(out).toMatch(/^ {2}serve .* serve queues over HTTP/m);
  }
});

test("key: the printed key is accepted with the printed line", () => {
  const { code, out, error } = runFile("executable.ts", ["key", "the", "billing"]);
  expect(code).toBe(0);
  const key = out.trimEnd();
  const line = error.split("\n").find((text) => /^[0-9a-f]{64}/.test(text)) ?? "";
  expect(line).toEndWith("  the billing");
  const keys = parseApiKeys(line);
  expect(keys.ok && findKey(key, keys.keys)?.name).toBe("the billing");
});
