import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SmallDisk, whyNoDisk } from "../../proof/processes/small-disk.ts";
import { createLog } from "../observability/log.ts";
import { newApiKey } from "./api-keys.ts";
import { addKeyLine, fileStamp, KeyFile, KeyFileError, mergedInfos } from "./key-file.ts";

const [one, two] = [newApiKey("one"), newApiKey("two")];

function setup(text: string) {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-keys-"));
  const path = join(folder, "keys");
  writeFileSync(path, text);
  const lines: string[] = [];
  const log = createLog({ level: "debug", write: (line) => lines.push(line) });
  let time = 0;
  return {
    path,
    open: () => new KeyFile({ path, log, now: () => time }),
    /** Atomic, as in a deployment. */
    replace: (next: string) => {
      writeFileSync(`${path}.new`, next);
      renameSync(`${path}.new`, path);
    },
    pass: (ms: number) => {
      time += ms;
    },
    lines,
    events: () => lines.map((line) => JSON.parse(line)),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

test("key file: a key is added and another withdrawn while the server runs", () => {
  using file = setup(one.line);
  const keys = file.open();
  const admitted = () => [one, two].map(({ key }) => keys.find(key) !== null);
  expect(admitted()).toEqual([true, false]);
  file.replace(`${one.line}\n${two.line}`);
  file.pass(1_000);
  expect(admitted()).toEqual([true, true]);
  file.replace(two.line);
  file.pass(999);
  expect(admitted()).toEqual([true, true]);
  file.pass(1);
  expect(admitted()).toEqual([false, true]);
  expect(file.events().map(({ level, event, keys }) => [level, event, keys])).toEqual([
    ["info", "reloaded API keys", 2],
    ["info", "reloaded API keys", 1],
  ]);
});

test("key file: a file of the same size written in place is noticed", () => {
  using file = setup(one.line);
  const keys = file.open();
  // Written again until the file system's clock has advanced.
  const before = fileStamp(file.path);
  while (fileStamp(file.path) === before) writeFileSync(file.path, two.line);
  file.pass(1_000);
  expect([one, two].map(({ key }) => keys.find(key) !== null)).toEqual([false, true]);
});

test.each([
  ["a key instead of its digest", one.key, "line 1 is invalid"],
  ["no key", "", "keys are invalid; expected 1 to"],
  ["too much", `# ${"x".repeat(70_000)}\n${two.line}`, "the file is too large"],
  ["no file", null, "ENOENT"],
])(
  "key file: with %s in it the current keys are kept, and the failure is logged once",
  (_, text, fault) => {
    using file = setup(one.line);
    const keys = file.open();
    if (text === null) unlinkSync(file.path);
    else writeFileSync(file.path, text);
    for (let check = 0; check < 3; check += 1) {
      file.pass(1_000);
      expect([one, two].map(({ key }) => keys.find(key) !== null)).toEqual([true, false]);
    }
    expect(file.events()).toMatchObject([
      {
        level: "warn",
        event: "failed to reload API keys; keeping the current ones",
        fault: expect.stringContaining(fault),
      },
    ]);
    file.replace(two.line);
    file.pass(1_000);
    expect(keys.find(two.key)?.name).toBe("two");
    for (const secret of [one.key, two.key, one.line.slice(0, 64), two.line.slice(0, 64)]) {
      expect(file.lines.join("")).not.toContain(secret);
    }
  },
);

test.each(["", one.key, "# comment"])("key file: %j is refused at the start", (text) => {
  using file = setup(text);
  expect(file.open).toThrow(KeyFileError);
});

test("key file: the use of a key is reported, and survives a reload", () => {
  using file = setup(`${one.line}\n`);
  const keys = file.open();
  const digest = one.line.slice(0, 8);
  const all = { roles: ["admin"], queues: ["*"] };
  const rights = { ...all, rights: [all] };
  expect(keys.infos).toEqual([
    { digest, name: "one", ...rights, last_used_at: null, denied_calls: 0 },
  ]);
  const before = Date.now();
  const known = keys.find(one.key);
  if (known === null) throw new Error("the key is not known");
  known.use.deniedCount += 2;
  file.replace(`${two.line.slice(0, 64)}  role=read queues=a*  two\n${one.line}\n`);
  file.pass(1_000);
  const [second, first] = keys.infos;
  expect(second).toMatchObject({ name: "two", roles: ["read"], queues: ["a*"], denied_calls: 0 });
  expect(first).toMatchObject({ digest, denied_calls: 2 });
  expect(first?.last_used_at).toEndWith(".000Z");
  expect(Date.parse(first?.last_used_at ?? "")).toBeGreaterThan(before - 1_000);
  expect(JSON.stringify(keys.infos)).not.toContain(one.line.slice(0, 9));
});

test("key file: the keys of several threads are one list with their combined use", () => {
  const info = { digest: "1", name: "a", roles: [], queues: [], rights: [], denied_calls: 1 };
  const [early, late] = ["2026-03-01T12:00:00.000Z", "2026-03-01T12:00:01.000Z"];
  const other = { ...info, digest: "2", last_used_at: null };
  expect(
    mergedInfos([
      [{ ...info, last_used_at: early }, other],
      [{ ...info, last_used_at: null }, other],
      [{ ...info, last_used_at: late }],
    ]),
  ).toEqual([
    { ...info, last_used_at: late, denied_calls: 3 },
    { ...other, denied_calls: 2 },
  ]);
});

test.skipIf(whyNoDisk("tmpfs") !== null)(
  "key file: on a full disk no part of a line is added",
  () => {
    using disk = new SmallDisk("tmpfs", 1);
    const path = join(disk.path, "keys");
    // There is room for the beginning of a line in the last block.
    const text = `${one.line}\n`.padStart(4_090, "# ".padEnd(89, "-").concat("\n"));
    writeFileSync(path, text);
    disk.fill();
    expect(() => addKeyLine(path, two.line)).toThrow(KeyFileError);
    expect(readFileSync(path, "utf8")).toBe(text);
  },
);
