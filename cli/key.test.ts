// Keys as an operator makes them, and a server that lets them in.

import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../bench/server-process.ts";
import { createClient } from "../client/client.ts";
import { apiKeysMax } from "../server/api-keys.ts";
import { exitCodes } from "./exit-codes.ts";

// Each test starts processes, which a busy machine takes its time for.
setDefaultTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), "holdfast-key-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function holdfast(...words: string[]) {
  const command = [process.execPath, join(import.meta.dir, "main.ts"), ...words];
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: folder, stderr: "pipe" });
  return { code: exitCode, out: stdout.toString(), error: stderr.toString() };
}

test("key: shows a key and the line that lets it in, and writes nothing", () => {
  const { code, out, error } = holdfast("key", "billing", "of", "Anna");
  expect({ code, error }).toEqual({ code: 0, error: "" });
  expect(out).toMatch(
    /^The key, [^\n]+\n\nholdfast_[\w-]{43}\n\nThe line for [^\n]+\n\n[0-9a-f]{64} {2}billing of Anna\n$/,
  );
  const { file, ...made } = JSON.parse(holdfast("key", "--json", "billing").out);
  expect(file).toBeNull();
  expect(Object.keys(made)).toEqual(["key", "line"]);
});

test("key: with --api-keys-file a server lets it in, also one that runs already", async () => {
  const path = join(folder, "keys");
  const added = (name: string): string => {
    const { code, out } = holdfast("key", name, "--api-keys-file", "keys", "--json");
    expect(code).toBe(0);
    return JSON.parse(out).key;
  };
  const one = added("one");
  // As an editor that adds no line break leaves it.
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
    const two = added("two");
    // The file is looked at again no sooner than a second after the last look.
    while ((await lists(two)) !== "let in") await Bun.sleep(200);
    expect(await lists(one)).toBe("let in");
    expect(readFileSync(path, "utf8")).not.toContain(two);
  } finally {
    await server.stop();
  }
});

test("key: what is no file of keys is left as it is, and no key is shown", () => {
  const path = join(folder, "other");
  const full = `${"0".repeat(64)}\n`.repeat(apiKeysMax);
  for (const [text, fault] of [
    ["{}", "line 1 is invalid; expected 64 hexadecimal digits, then a name"],
    [full, `keys are invalid; expected 1 to ${apiKeysMax}, got ${apiKeysMax + 1}`],
  ] as const) {
    writeFileSync(path, text);
    expect(holdfast("key", "x", "--api-keys-file", "other")).toEqual({
      code: exitCodes.usage.code,
      out: "",
      error:
        `error: --api-keys-file is invalid; expected a file of API keys' digests, got 'other': ${fault}\n` +
        "Usage: holdfast key [options] <name...>\n",
    });
    expect(readFileSync(path, "utf8")).toBe(text);
  }
  expect(holdfast("key", "x", "--api-keys-file", "missing/keys").code).toBe(exitCodes.usage.code);
  expect(existsSync(join(folder, "missing"))).toBe(false);
  expect(holdfast("key", " ").error).toStartWith(
    "error: name is invalid; expected who gets the key",
  );
});
