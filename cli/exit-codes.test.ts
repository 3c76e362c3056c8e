// The exit codes of commands by the outcome of their calls.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { errorOf, OutcomeUnknown, Unavailable } from "../client/errors.ts";
import { type ListeningApp, listeningApp } from "../server/testing/listening-app.ts";
import { sampleCertificate, sampleKey } from "../server/testing/tls-sample.ts";
import { exitCodeOf, exitCodes, UsageError } from "./exit-codes.ts";
import { runInProcess } from "./testing/in-process.ts";

let server: ListeningApp;

beforeAll(async () => {
  server = await listeningApp();
});
afterAll(() => server.stop());

async function run(url: string, ...words: string[]) {
  const { code, error } = await runInProcess(words, { env: { HOLDFAST_URL: url } });
  return { code, error };
}

const refused = (status: number | null) => ({ operation: "produce", status, message: "no" });

test.each([
  [400, exitCodes.refused],
  [401, exitCodes.unauthorized],
  [403, exitCodes.unauthorized],
  [404, exitCodes.refused],
  [413, exitCodes.refused],
  [429, exitCodes.unable],
  [453, exitCodes.refused],
  [454, exitCodes.unable],
  [500, exitCodes.unable],
  [503, exitCodes.unable],
  [504, exitCodes.unknown],
])("exit codes: an answer of %i", (status, { code }) => {
  expect(exitCodeOf(errorOf(refused(status), true))).toBe(code);
});

test("exit codes: no connection, no answer, a usage error, and a bug", () => {
  expect(exitCodeOf(new Unavailable(refused(null)))).toBe(exitCodes.unreachable.code);
  expect(exitCodeOf(new OutcomeUnknown(refused(null)))).toBe(exitCodes.unknown.code);
  expect(exitCodeOf(new UsageError("no"))).toBe(exitCodes.usage.code);
  expect(exitCodeOf(new Error("no"))).toBe(exitCodes.bug.code);
});

test("exit codes: a refusal after an attempt without an answer is an unknown outcome", () => {
  for (const status of [453, 503]) {
    const error = errorOf(refused(status), true);
    error.followsUnknown = true;
    expect(exitCodeOf(error)).toBe(exitCodes.unknown.code);
  }
});

test("exit codes: each has one meaning", () => {
  const codes = Object.values(exitCodes).map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
});

test("exit codes: a refusal of the server is printed without the usage of the command", async () => {
  for (const [words, message] of [
    [["inspect", "nowhere"], "queue does not exist; no such queue named 'nowhere'"],
    [["queues", "create", "a b"], "queue name is invalid; 'a b' cannot contain whitespace"],
  ] as const) {
    expect(await run(server.url, ...words)).toEqual({
      code: exitCodes.refused.code,
      error: `error: ${message}\n`,
    });
  }
});

test("exit codes: unreachable: nothing listens, unknown name, no TLS, untrusted certificate", async () => {
  let answered = 0;
  const fetch = () => {
    answered += 1;
    return new Response("{}");
  };
  const address = { port: 0, hostname: "127.0.0.1", reusePort: false } as const;
  const tls = { cert: sampleCertificate, key: sampleKey };
  const secure = Bun.serve({ ...address, fetch, tls });
  const plain = Bun.serve({ ...address, fetch });
  try {
    for (const url of [
      "http://127.0.0.1:1",
      "http://no-such-host.invalid",
      `https://localhost:${secure.port}`,
      `https://localhost:${plain.port}`,
    ]) {
      const { code, error } = await run(url, "produce", "orders", "a");
      expect(error).toStartWith(`error: the server cannot be reached at ${url}; `);
      expect(error.trim().split("\n")).toHaveLength(1);
      expect(code).toBe(exitCodes.unreachable.code);
    }
    expect(answered).toBe(0);
  } finally {
    await Promise.all([secure.stop(true), plain.stop(true)]);
  }
});

test("exit codes: the outcome is unknown if the connection breaks before the answer", async () => {
  const breaking = Bun.listen({
    port: 0,
    hostname: "127.0.0.1",
    socket: { data: (socket) => void socket.end() },
  });
  try {
    const { code, error } = await run(
      `http://127.0.0.1:${breaking.port}`,
      ...["produce", "orders", "a"],
    );
    expect(error).toStartWith("error: the connection broke; ");
    expect(code).toBe(exitCodes.unknown.code);
  } finally {
    breaking.stop(true);
  }
});

test("exit codes: a refusal after an attempt without an answer states that the call may be done", async () => {
  let calls = 0;
  const proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    reusePort: false,
    fetch: () => {
      calls += 1;
      if (calls === 1) return new Response("bad gateway", { status: 502 });
      return Response.json({ code: 453, message: "not leased" }, { status: 453 });
    },
  });
  try {
    const { code, error } = await run(
      `http://127.0.0.1:${proxy.port}`,
      ...["items", "delete", "orders", "1n9rPb4rwKwuC00010000000000", "--partition", "0"],
    );
    expect(error).toBe("error: not leased; an attempt without an answer may have done it\n");
    expect(code).toBe(exitCodes.unknown.code);
  } finally {
    await proxy.stop(true);
  }
});
