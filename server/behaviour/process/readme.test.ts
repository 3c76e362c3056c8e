// Runs the examples of the README unchanged, because newcomers copy them.

import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../../../client/client.ts";
import { firstSteps } from "../../../content/first-steps.ts";
import { generatedFiles, withGenerated } from "../../../scripts/readme.ts";
import { startServer } from "../../../testing/server-process.ts";

const root = join(import.meta.dir, "../../..");
const readme = readFileSync(join(root, "README.md"), "utf8");

/** The fenced blocks of a language. */
function blocks(language: string): string[] {
  return [...readme.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, "g"))].map(
    ([, text]) => text ?? "",
  );
}

function scratch() {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-readme-"));
  return { directory, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}

test("readme: rates are those of the latest results", () => {
  for (const path of generatedFiles) {
    const text = readFileSync(path, "utf8");
    expect(withGenerated(text)).toBe(text);
    expect(text).toMatch(/<!-- (\w+) -->\n.*\n[\s\S]+<!-- \/\1 -->/);
  }
});

test("readme: a worker and its producer come first, behind what starts a server", () => {
  const languages = [...readme.matchAll(/^```(\w+)\n/gm)].map(([, language]) => language);
  expect(languages.slice(0, 4)).toEqual(["bash", "js", "js", "sh"]);
  expect(blocks("bash")[0]).toBe("npx --yes bun start\n");
});

test("readme: the block to paste is that of the site", () => {
  expect(blocks("sh")[0]).toBe(firstSteps(null));
});

/** Writes the package's client, for programs of any runtime. */
async function writeClient(directory: string): Promise<void> {
  const built = await Bun.build({ entrypoints: [join(root, "client/index.ts")] });
  writeFileSync(join(directory, "client.mjs"), (await built.outputs[0]?.text()) ?? "");
}

/** Writes the first or second example, changed to call `port`. */
function writeExample(directory: string, which: "worker" | "producer", port: number): string {
  const [worker = "", producer = ""] = blocks("js");
  const script = join(directory, `${which}.mjs`);
  const text = which === "worker" ? worker : producer;
  writeFileSync(
    script,
    text
      .replace('"holdfast-client"', '"./client.mjs"')
      .replace("localhost:9090", `localhost:${port}`),
  );
  return script;
}

/** Reads the output until it contains the pattern. */
async function nextOutput(output: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  let text = "";
  for await (const chunk of output) {
    text += new TextDecoder().decode(chunk);
    if (pattern.test(text)) break;
  }
  return text;
}

const runtimes = [
  ["Bun", process.execPath],
  ["Node", Bun.which("node") ?? ""],
] as const;

/** Runs the worker and the producer of the README, and returns the outcome of the item. */
async function handled(program: string) {
  using files = scratch();
  const server = await startServer({ data: join(files.directory, "data") });
  try {
    await writeClient(files.directory);
    const script = writeExample(files.directory, "worker", server.port);
    const worker = Bun.spawn([program, script], { stdio: ["ignore", "pipe", "pipe"] });
    const parcels = createClient({ url: `http://localhost:${server.port}` }).queue("parcels");
    // The worker creates the queue.
    while ((await parcels.info().catch(() => null)) === null) await Bun.sleep(10);
    const producer = writeExample(files.directory, "producer", server.port);
    expect(await Bun.$`${program} ${producer}`.quiet().text()).toBe("produced\n");
    const printed = await nextOutput(worker.stdout, /\n/);
    // Stopping completes the handled items.
    worker.kill("SIGTERM");
    const [errors, code] = [await new Response(worker.stderr).text(), await worker.exited];
    const [stats] = (await parcels.stats()).logical_queues;
    const left = stats?.partitions.map(({ total, scheduled }) => total + scheduled);
    return { printed, errors, code, left };
  } finally {
    await server.stop();
  }
}

/** If a process stalls for longer than the lease, the item is handled twice; then try again. */
const roundsMax = 5;

test.each(runtimes.filter(([, program]) => program !== ""))(
  "readme: %s: the worker's job outlives its lease and is done once",
  async (_, program) => {
    const once = "attempt 1: order-1042, two anchors\n";
    const expected = { printed: once, errors: "", code: 143, left: [0] };
    let got = await handled(program);
    for (let round = 1; round < roundsMax && !Bun.deepEquals(got, expected); round += 1) {
      got = await handled(program);
    }
    expect(got).toEqual(expected);
  },
);

test.each(runtimes.filter(([, program]) => program !== ""))(
  "readme: %s: a producer that is killed before it gets the reply, and run again, adds its item once",
  async (_, program) => {
    using files = scratch();
    const server = await startServer({ data: join(files.directory, "data") });
    let heard = 0;
    let running: Bun.Subprocess | null = null;
    // The producer is gone when the first response arrives.
    await using between = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (request) => {
        const { pathname } = new URL(request.url);
        const headers = new Headers(request.headers);
        headers.delete("host");
        const { method } = request;
        const body = await request.bytes();
        const url = `http://127.0.0.1:${server.port}${pathname}`;
        const reply = await fetch(url, { method, headers, body });
        heard += reply.status === 200 ? 1 : 0;
        if (heard === 1) {
          running?.kill("SIGKILL");
          await running?.exited;
        }
        return new Response(await reply.bytes(), { status: reply.status, headers: reply.headers });
      },
    });
    try {
      const parcels = createClient({ url: `http://localhost:${server.port}` }).queue("parcels");
      await parcels.create({ lease_timeout: "1m", expire_timeout: "1h" });
      await writeClient(files.directory);
      const script = writeExample(files.directory, "producer", between.port ?? 0);
      const produce = async () => {
        const child = Bun.spawn([program, script], { stdio: ["ignore", "pipe", "inherit"] });
        running = child;
        const printed = await new Response(child.stdout).text();
        return { code: await child.exited, printed };
      };
      expect(await produce()).toEqual({ code: 137, printed: "" });
      expect(await produce()).toEqual({ code: 0, printed: "produced\n" });
      expect([heard, (await parcels.inspect()).queued]).toEqual([2, 1]);
    } finally {
      await server.stop();
    }
  },
);
