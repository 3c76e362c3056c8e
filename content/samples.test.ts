// Runs the code samples of the content against a real server, in the order of each
// page, and compares what they print with what the page shows.
//
//   ```bash test=lease      is run; bash, ts, python or go
//   ```json output=lease    is what it has to print; ids and instants may differ
//   ```bash exit=2          how it has to end, when not with 0

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServerProcess, startServer } from "../bench/server-process.ts";
import { type Fence, fencesOf, Likeness, type Sample, samplesOf } from "./samples.ts";

const root = join(import.meta.dir, "..");
const pages = [...new Bun.Glob("**/*.mdx").scanSync({ cwd: import.meta.dir })]
  .sort()
  .map((page) => [page, samplesIn(page)] as const)
  .filter(([, samples]) => samples.length > 0);
const sampleTimeoutMs = 60_000;

/** What runs a sample's file; a language whose program is absent is skipped. */
const runners: Readonly<Record<string, { program: string | null; argv: readonly string[] }>> = {
  bash: { program: Bun.which("bash"), argv: ["-eu", "-o", "pipefail"] },
  ts: { program: process.execPath, argv: [] },
  python: { program: Bun.which("python3"), argv: [] },
  go: { program: Bun.which("go"), argv: ["run"] },
};
const extensions: Readonly<Record<string, string>> = { bash: "sh", python: "py" };

function samplesIn(page: string): readonly Sample[] {
  return samplesOf(fencesOf(readFileSync(join(import.meta.dir, page), "utf8")));
}

interface Printed {
  readonly code: number;
  readonly text: string;
}

async function run(fence: Fence, code: string, directory: string): Promise<Printed> {
  const { lang, id } = fence;
  const runner = runners[lang];
  if (runner?.program == null) throw new Error(`nothing runs samples in '${lang}'`);
  const file = join(directory, `${id}.${extensions[lang] ?? lang}`);
  writeFileSync(file, code);
  const child = Bun.spawn([runner.program, ...runner.argv, file], {
    cwd: directory,
    env: { ...process.env, GOTOOLCHAIN: "local", GOFLAGS: "-mod=mod", GOPROXY: "off" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const exitCode = await child.exited;
  return {
    code: exitCode,
    text: exitCode === fence.exit && stderr === "" ? stdout : stdout + stderr,
  };
}

const holdfast = `${process.execPath} ${join(root, "cli/main.ts")}`;

/** A sample says where a server of one's own would be; here it is elsewhere. */
function placed(code: string, port: number): string {
  return code
    .replaceAll("localhost:9090", `127.0.0.1:${port}`)
    .replaceAll('"holdfast"', JSON.stringify(join(root, "engine/embed.ts")))
    .replaceAll('"holdfast/client"', JSON.stringify(join(root, "openapi/client/index.ts")))
    .replaceAll(/^bun start/gm, `${process.execPath} ${join(root, "server/main.ts")}`)
    .replaceAll(/(^|\| |^ +)holdfast /gm, `$1HOLDFAST_URL=http://127.0.0.1:${port} ${holdfast} `);
}

describe.each(pages)("%s", (page, samples) => {
  const likeness = new Likeness();
  let directory: string;
  let server: ServerProcess;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "holdfast-samples-"));
    server = await startServer({ data: join(directory, "server"), flags: ["--shards", "1"] });
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  // One after the other: a sample goes on where the one before it ended.
  test(
    "each sample prints what the page says",
    async () => {
      for (const { fence, output } of samples) {
        // A language that nothing runs is not absent but misspelt, and fails.
        if (runners[fence.lang]?.program === null) {
          console.warn(`not run, its language is not installed: ${fence.id} (${fence.lang})`);
          continue;
        }
        const where = `${fence.id} (${fence.lang}, ${page}:${fence.line})`;
        const code = placed(likeness.translate(fence.code), server.port);
        const printed = await run(fence, code, directory);
        if (printed.code !== fence.exit)
          expect({ where, ...printed }).toEqual({ where, code: fence.exit, text: "" });
        if (output === null) expect(`${where}\n${printed.text}`).not.toMatch(/"code":[45]\d\d/);
        else expect([where, likeness.difference(output.code, printed.text)]).toEqual([where, null]);
      }
    },
    samples.length * sampleTimeoutMs,
  );
});

describe("samples", () => {
  const id = (end: string): string => `1n9rPb4rwKwuC0001000000${end}`;

  test("each output belongs to a sample, and each name is given once", () => {
    const text = "```bash test=a\n```\n```json output=b\n```\n";
    expect(() => samplesOf(fencesOf(text))).toThrow("output=b has no sample before it");
    expect(() => samplesOf(fencesOf("```ts test=a\n```\n```ts test=a\n```\n"))).toThrow(
      "test=a is given twice",
    );
  });

  test("ids and instants may differ, all else may not", () => {
    const shown = `{"id":"${id("0000")}","at":"2026-11-21T11:38:51.793Z","attempts":1}`;
    const same = `{"attempts":1,"id":"${id("abcd")}","at":"2027-01-01T00:00:00.000Z"}`;
    expect(new Likeness().difference(shown, same)).toBeNull();
    expect(new Likeness().difference(shown, same.replace("1,", "2,"))).not.toBeNull();
    expect(new Likeness().difference("one\n", "two\n")).not.toBeNull();
    expect(new Likeness().difference("one\n", "one\nmore\n")).not.toBeNull();
  });

  test("an id that is shown again has to be the same again", () => {
    const likeness = new Likeness();
    expect(likeness.difference(id("0000"), id("abcd"))).toBeNull();
    expect(likeness.difference(id("0000"), id("abcd"))).toBeNull();
    expect(likeness.difference(id("0000"), id("abce"))).not.toBeNull();
    expect(likeness.difference(id("0001"), id("abcd"))).not.toBeNull();
    expect(likeness.translate(`complete ${id("0000")}`)).toBe(`complete ${id("abcd")}`);
  });
});
