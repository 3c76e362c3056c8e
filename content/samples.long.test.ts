// Runs the code samples of the content against a real server, in the order of each
// page, and compares what they print with what the page shows.
//
//   ```bash test=lease      is run; bash, ts, python or go
//   ```bash serve=drill     is a server that goes on running beside what comes after it
//   ```json output=lease    is what it has to print; ids and instants may differ
//   ```bash exit=2          how it has to end, when not with 0
//   ```bash killed=drill    that server is killed before, as the page says

import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../client/client.ts";
import manifest from "../package.json" with { type: "json" };
import { freePort } from "../testing/child-server.ts";
import { type ServerProcess, startCommand, startServer } from "../testing/server-process.ts";
import {
  type Fence,
  fencesOf,
  Likeness,
  readingsOf,
  type Sample,
  samplesOf,
} from "./testing/samples.ts";

const root = join(import.meta.dir, "..");
const readings = [...new Bun.Glob("**/*.mdx").scanSync({ cwd: import.meta.dir })]
  .sort()
  .flatMap((page) => readingsOf(samplesIn(page)).map((samples) => [page, samples] as const))
  .filter(([, samples]) => samples.length > 0)
  .map(
    ([page, samples]) =>
      [
        page,
        samples.findLast(({ fence }) => fence.tab !== null)?.fence.tab ?? "whole",
        samples,
      ] as const,
  );
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

/** Where the samples of a page run: a folder of their own, and the servers that they speak to. */
interface Place {
  readonly directory: string;
  /** From the port that the page names to the one that is listened on. */
  readonly ports: Map<string, number>;
  /** By their names; that at the usual port has none. */
  readonly servers: Map<string, ServerProcess>;
}

/** What the page calls the folder. */
const shownDirectory = "/srv/holdfast";
const usualPort = "9090";
const databaseCommand = "bun run postgres";
const databasePort = "5432";

function environmentOf({ directory, ports }: Place) {
  return {
    ...process.env,
    PATH: `${join(directory, "bin")}:${process.env["PATH"]}`,
    HOLDFAST_URL: `http://127.0.0.1:${ports.get(usualPort)}`,
    HOLDFAST_SHARDS: "1",
    ...{ GOTOOLCHAIN: "local", GOFLAGS: "-mod=mod", GOPROXY: "off" },
  };
}

async function run(fence: Fence, code: string, place: Place): Promise<Printed> {
  const { lang, id } = fence;
  const runner = runners[lang];
  if (runner?.program == null) throw new Error(`nothing runs samples in '${lang}'`);
  const { directory } = place;
  const file = join(directory, `${id}.${extensions[lang] ?? lang}`);
  writeFileSync(file, code);
  const child = Bun.spawn([runner.program, ...runner.argv, file], {
    cwd: directory,
    env: environmentOf(place),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const exitCode = await child.exited;
  const text = exitCode === fence.exit && stderr === "" ? stdout : stdout + stderr;
  return { code: exitCode, text: text.replaceAll(directory, shownDirectory) };
}

/** Leaves it running, on a free port, which then stands for the one that the page names. */
async function serve({ code, id }: Fence, place: Place): Promise<void> {
  const { directory, ports, servers } = place;
  const isDatabase = code.startsWith(databaseCommand);
  const said = /--port (\d+)/.exec(code)?.[1];
  const port = said ?? (isDatabase ? databasePort : usualPort);
  ports.set(port, freePort());
  const flags = [
    ...(said === undefined ? ["--port", port] : []),
    ...(isDatabase ? ["--data", join(directory, "postgres")] : []),
  ];
  const command = placed([code.trimEnd(), ...flags].join(" "), place);
  const file = join(directory, `serve-${port}.sh`);
  // So that it is the shell's process that is told to end.
  writeFileSync(file, command.replace(/^((?:export .*\n)*)/, "$1exec "));
  const server = await startCommand([runners["bash"]?.program ?? "bash", "-eu", file], {
    cwd: directory,
    env: environmentOf(place),
  });
  servers.set(id, server);
}

async function kill(name: string, { servers }: Place): Promise<void> {
  const server = servers.get(name);
  if (server === undefined) throw new Error(`no server is called ${name}`);
  await server.stop("SIGKILL");
}

/** A sample says where things would be for its reader; here they are elsewhere. */
function placed(code: string, { ports }: Place): string {
  let text = inThisTree(code);
  for (const [shown, actual] of ports) {
    text = text
      .replaceAll(`localhost:${shown}`, `127.0.0.1:${actual}`)
      .replaceAll(new RegExp(`127\\.0\\.0\\.1:${shown}\\b`, "g"), `127.0.0.1:${actual}`)
      .replaceAll(`--port ${shown}`, `--port ${actual}`);
  }
  return text;
}

function inThisTree(code: string): string {
  return code
    .replaceAll('from "holdfast"', `from ${JSON.stringify(join(root, "engine/embed.ts"))}`)
    .replaceAll('"holdfast-client"', JSON.stringify(join(root, "client/index.ts")))
    .replaceAll(/"@opentelemetry\/[\w-]+"/g, (name) =>
      JSON.stringify(Bun.resolveSync(JSON.parse(name), root)),
    )
    .replaceAll(/^bun (bench\/\S+)/gm, (_, file) => `${process.execPath} ${join(root, file)}`)
    .replaceAll(/^bun start/gm, `${process.execPath} ${join(root, "cli/main.ts")} serve`)
    .replaceAll(/^bun run ([\w:]+)/gm, (_, name: string) => {
      const script = Object.entries(manifest.scripts).find(([key]) => key === name)?.[1] ?? "";
      return script.replace(/^bun (\S+)/, (_, file) => `${process.execPath} ${join(root, file)}`);
    });
}

// One after the other within a reading: a sample goes on where the one before it ended.
test.concurrent.each(readings)(
  "%s (%s): each sample prints what the page says",
  async (page, _, samples) => {
    const likeness = new Likeness();
    await using place = await openPlace();
    for (const { fence, output } of samples) {
      // A language that nothing runs is not absent but misspelt, and fails.
      if (runners[fence.lang]?.program === null) {
        console.warn(`not run, its language is not installed: ${fence.id} (${fence.lang})`);
        continue;
      }
      if (fence.role === "serve") {
        await serve(fence, place);
        continue;
      }
      if (fence.killed !== null) await kill(fence.killed, place);
      const where = `${fence.id} (${fence.lang}, ${page}:${fence.line})`;
      const code = placed(likeness.translate(fence.code), place);
      const printed = await run(fence, code, place);
      if (printed.code !== fence.exit)
        expect({ where, ...printed }).toEqual({ where, code: fence.exit, text: "" });
      if (output === null) expect(`${where}\n${printed.text}`).not.toMatch(/"code":[45]\d\d/);
      else expect([where, likeness.difference(output.code, printed.text)]).toEqual([where, null]);
    }
    expect(await losing(place)).toEqual([]);
  },
  sampleTimeoutMs * readings.reduce((count, [, , samples]) => count + samples.length, 0),
);

/** Queues whose failed and expired items would be gone: no reader should copy one. */
async function losing({ servers }: Place): Promise<string[]> {
  const server = servers.get("");
  const client = createClient({ url: `http://127.0.0.1:${server?.port}` });
  const { items: all } = await client.listQueues({ pivot: "", limit: 1_000 });
  const dead = new Set(all.map(({ dead_queue }) => dead_queue));
  return all
    .filter(({ queue_name, dead_queue }) => dead_queue === "" && !dead.has(queue_name))
    .map(({ queue_name }) => queue_name);
}

/** A reading's own folder, with the command in it and a server at the usual port. */
async function openPlace(): Promise<Place & AsyncDisposable> {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-samples-"));
  // A database is another user's process.
  chmodSync(directory, 0o755);
  const command = join(directory, "bin/holdfast");
  mkdirSync(join(directory, "bin"));
  const cli = `#!/bin/sh\nexec '${process.execPath}' '${join(root, "cli/main.ts")}' "$@"\n`;
  writeFileSync(command, cli, { mode: 0o755 });
  const server = await startServer({ data: join(directory, "server"), flags: ["--shards", "1"] });
  const servers = new Map([["", server]]);
  return {
    directory,
    ports: new Map([[usualPort, server.port]]),
    servers,
    [Symbol.asyncDispose]: async () => {
      // What came later may need what came before.
      for (const one of [...servers.values()].toReversed()) await one.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

describe("samples", () => {
  const id = (end: string): string => `1n9rPb4rwKwuC0001000000${end}`;

  test("each output belongs to a sample, and each name is given once", () => {
    const text = "```bash test=a\n```\n```json output=b\n```\n";
    expect(() => samplesOf(fencesOf(text))).toThrow("output=b has no sample before it");
    expect(() => samplesOf(fencesOf("```ts test=a\n```\n```ts test=a\n```\n"))).toThrow(
      "test=a is given twice",
    );
  });

  test("tabs are alternatives: each is read after what comes before it, the first to the end", () => {
    const inTab = (label: string, id: string) =>
      `<Tab label="${label}">\n\n\`\`\`bash test=${id}\n\`\`\`\n\n</Tab>\n`;
    const tabs = `<Tabs>\n${inTab("One", "b")}${inTab("Two", "c")}</Tabs>\n`;
    const text = `\`\`\`bash test=a\n\`\`\`\n${tabs}\`\`\`bash test=d\n\`\`\`\n`;
    const read = (page: string) =>
      readingsOf(samplesOf(fencesOf(page))).map((samples) => samples.map(({ fence }) => fence.id));
    expect(read(text)).toEqual([
      ["a", "b", "d"],
      ["a", "c"],
    ]);
    expect(read(text.replaceAll(/<[^>]*>/g, ""))).toEqual([["a", "b", "c", "d"]]);
  });

  test("a server is a sample too, and an API key and an instant in a name may differ", () => {
    const [fence] = fencesOf("```bash serve=drill\nholdfast serve\n```\n");
    expect(fence).toMatchObject({ role: "serve", id: "drill", code: "holdfast serve\n" });
    const key = (letter: string): string => `holdfast_${letter.repeat(43)}`;
    expect(new Likeness().difference(key("a"), key("b"))).toBeNull();
    expect(new Likeness().difference(key("a"), "holdfast_b")).not.toBeNull();
    const tasks = ["rmg2k7v11", "k84e23f19cd7ee69951059c25"].map((task) => `${task} is done`);
    expect(new Likeness().difference(...(tasks as [string, string]))).toBeNull();
    expect(new Likeness().difference("reference", "k84e23f19cd7ee69951059c25")).not.toBeNull();
    const name = "backups/2026-11-21T09-30-00-000Z";
    expect(new Likeness().difference(name, name.replace("09", "10"))).toBeNull();
    expect(new Likeness().difference(name, name.replace("Z", ""))).not.toBeNull();
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
