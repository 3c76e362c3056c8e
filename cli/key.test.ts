// Makes keys with the command, and uses them with a server.

import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../client/client.ts";
import { apiKeysMax } from "../server/auth/api-keys.ts";
import { startServer } from "../testing/server-process.ts";
import { exitCodes } from "./exit-codes.ts";
import { type Run, runInProcess } from "./testing/in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-key-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const main = join(import.meta.dir, "main.ts");
const holdfast = (...words: string[]): Promise<Run> => runInProcess(words, { cwd: folder });

test("key: prints a key and its line for the file of keys, and writes nothing", async () => {
  const { code, out, error } = await holdfast("key", "billing", "of", "Anna");
  expect(code).toBe(0);
  // Standard output is only the key, for a file or another program.
  expect(out).toMatch(/^holdfast_[\w-]{43}\n$/);
  expect(error).toMatch(
    /^The key is for the client, [^\n]+\nThe line for [^\n]+\n\n[0-9a-f]{64} {2}billing of Anna\n$/,
  );
  const added = await holdfast("key", "anna", "--api-keys-file", "alone");
  expect(added.out).toMatch(/^holdfast_[\w-]{43}\n$/);
  expect(added.error).toBe(
    "The key is for the client, and is shown this once. Its line is in alone.\n",
  );
  const { file, ...made } = JSON.parse((await holdfast("key", "--json", "billing")).out);
  expect(file).toBeNull();
  expect(Object.keys(made)).toEqual(["key", "line"]);
});

test("key: with --api-keys-file a server accepts it, also a running one", async () => {
  const path = join(folder, "keys");
  const added = async (name: string): Promise<string> => {
    const { code, out } = await holdfast("key", name, "--api-keys-file", "keys", "--json");
    expect(code).toBe(0);
    return JSON.parse(out).key;
  };
  const one = await added("one");
  // Some editors write no line break at the end of the file.
  writeFileSync(path, `# ours\n${readFileSync(path, "utf8").trimEnd()}`);
  const flags = ["--store", "memory", "--api-keys-file", path];
  const server = await startServer({ data: join(folder, "data"), flags });
  try {
    const lists = (apiKey: string) =>
      createClient({ url: `http://127.0.0.1:${server.port}`, apiKey, attemptsMax: 1 })
        .listQueues({ pivot: "", limit: 1 })
        .then(
          () => "let in",
          (error) => error.code,
        );
    expect(await lists(one)).toBe("let in");
    const two = await added("two");
    // The server checks the file at most once per second.
    while ((await lists(two)) !== "let in") await Bun.sleep(200);
    expect(await lists(one)).toBe("let in");
    expect(readFileSync(path, "utf8")).not.toContain(two);
  } finally {
    await server.stop();
  }
});

test("key: a file that is not a file of keys stays unchanged, and no key is printed", async () => {
  const path = join(folder, "other");
  const digests = Array.from({ length: apiKeysMax }, (_, index) => String(index).padStart(64, "0"));
  const full = `${digests.join("\n")}\n`;
  for (const [text, fault] of [
    ["{}", "line 1 is invalid; expected 64 hexadecimal digits, then a name"],
    [full, `keys are invalid; expected 1 to ${apiKeysMax}, got ${apiKeysMax + 1}`],
  ] as const) {
    writeFileSync(path, text);
    expect(await holdfast("key", "x", "--api-keys-file", "other")).toEqual({
      code: exitCodes.usage.code,
      out: "",
      error:
        `error: --api-keys-file is invalid; expected a file of API keys' digests, got 'other': ${fault}\n` +
        "Usage: holdfast key [options] <name...>\n",
    });
    expect(readFileSync(path, "utf8")).toBe(text);
  }
  expect((await holdfast("key", "x", "--api-keys-file", "missing/keys")).code).toBe(
    exitCodes.usage.code,
  );
  expect(existsSync(join(folder, "missing"))).toBe(false);
  expect((await holdfast("key", " ")).error).toStartWith(
    "error: name is invalid; expected who gets the key",
  );
});

test("key: --role and --queues limit it", async () => {
  const line = async (...words: string[]) =>
    JSON.parse((await holdfast("key", "x", "--json", ...words)).out).line;
  expect((await line()).slice(64)).toBe("  x");
  expect((await line("--role", "read")).slice(64)).toBe("  role=read queues=*  x");
  const twice = ["--role", "produce", "--role", "consume,produce"];
  const queues = ["--queues", "orders*,billing", "--queues", "x"];
  expect((await line(...twice, ...queues)).slice(64)).toBe(
    "  role=produce,consume queues=orders*,billing,x  x",
  );
  const each = ["--role", "consume,read", "--queues", "orders", "--role", "produce"];
  const [first, second] = (await line(...each, "--queues", "invoices*")).split("\n");
  expect(first.slice(64)).toBe("  role=consume,read queues=orders  x");
  expect(second).toBe(`${first.slice(0, 64)}  role=produce queues=invoices*  x`);
  for (const [words, fault] of [
    [each, "--queues is missing; expected them behind each --role"],
    [["--role", "boss"], "expected roles out of produce, consume, read, admin, got 'boss'"],
    [["--queues", "orders"], "--role is missing; expected one with --queues"],
    [["--role", "read", "--queues", "a,"], "expected names of queues, with commas, got 'a,'"],
    [["--role", "read", "--queues", "a b"], "expected names of queues, with commas, got 'a b'"],
    [["a=b"], "name is invalid; expected who gets the key, without '='"],
  ] as const) {
    const { code, out, error } = await holdfast("key", "x", ...words);
    expect({ code, out }).toEqual({ code: exitCodes.usage.code, out: "" });
    expect(error).toContain(fault);
  }
});

test("whoami, keys, actions: a server with several threads returns the key, all keys and their actions", async () => {
  const made = async (name: string, ...words: string[]): Promise<string> =>
    JSON.parse((await holdfast("key", name, "--api-keys-file", "roles", "--json", ...words)).out)
      .key;
  const anna = await made("anna");
  const checkout = await made("checkout", "--role", "produce,read", "--queues", "orders*");
  const two = ["--role", "consume", "--queues", "orders", "--role", "produce", "--queues", "b*"];
  const both = await made("both", ...two);
  const flags = [
    "--store",
    "memory",
    "--shards",
    "3",
    "--threads",
    "3",
    "--api-keys-file",
    join(folder, "roles"),
  ];
  const server = await startServer({ data: join(folder, "roles-data"), flags });
  // Each command has a process of its own, so that it opens a connection, which any thread accepts.
  const as = (key: string, ...words: string[]) => {
    const env = {
      ...process.env,
      HOLDFAST_URL: `http://127.0.0.1:${server.port}`,
      HOLDFAST_API_KEY: key,
    };
    const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, main, ...words], { env });
    return { code: exitCode, out: stdout.toString(), error: stderr.toString() };
  };
  try {
    expect(as(both, "whoami").out).toBe(
      "key   roles    queues\nboth  consume  orders\nboth  produce  b*\n",
    );
    expect(as(checkout, "whoami").out).toBe(
      "key       roles         queues\ncheckout  produce,read  orders*\n",
    );
    for (const name of ["orders", "billing"]) {
      expect(as(anna, "queues", "create", name).code).toBe(0);
    }
    for (let count = 0; count < 4; count += 1) {
      const { code, error } = as(checkout, "queues", "delete", "orders", "--yes");
      expect(code).toBe(exitCodes.unauthorized.code);
      expect(error).toContain("key 'checkout' is not allowed to administer any queue");
    }
    const queues = JSON.parse(as(checkout, "queues", "list", "--json").out);
    expect(queues.map(({ queue_name }: { queue_name: string }) => queue_name)).toEqual(["orders"]);
    const keys = as(anna, "keys").out.split("\n");
    expect(keys[0]).toMatch(/^key +digest +roles +queues +last used +denied$/);
    expect(keys[1]).toMatch(/^anna +[0-9a-f]{8}… +admin +\* +\d{4}-[-\dT:.]+Z +0$/);
    expect(keys[2]).toMatch(
      /^checkout +[0-9a-f]{8}… +produce,read +orders\* +\d{4}-[-\dT:.]+Z +4$/,
    );
    const actions = as(anna, "actions").out.split("\n");
    expect(actions[0]).toMatch(/^at +key +operation +queue +to +items +code$/);
    expect(actions[1]).toMatch(/^\d{4}-[-\dT:.]+Z +anna +createQueue +billing +0 +200$/);
    expect(actions[2]).toMatch(/ orders +0 +200$/);
    expect(actions[3]).toStartWith("recorded since ");
    expect(as(checkout, "actions", "--limit", "1").out).toContain(" createQueue  orders ");
    expect(as(checkout, "actions", "billing").code).toBe(exitCodes.unauthorized.code);
    const noted = () =>
      server
        .log()
        .split("\n")
        .filter((line) => line.includes('"audit":true'));
    // The commands kept this process from reading.
    while (noted().length < 2) await Bun.sleep(10);
    expect(noted().map((line) => JSON.parse(line))).toMatchObject([
      { event: "action", key: "anna", operation: "createQueue", queue: "orders", code: 200 },
      { event: "action", key: "anna", operation: "createQueue", queue: "billing", code: 200 },
    ]);
  } finally {
    await server.stop();
  }
});
