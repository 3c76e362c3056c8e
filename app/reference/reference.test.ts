// The API's page: as text, its samples as they run, and what the code weighs that it loads. In
// Chromium it is tried by `testing/reference.ts`.

import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildTimeoutMs, ensureBuilt } from "../build/ensure-built.ts";
import { folders } from "../build/site-folder.ts";
import { openTestApp } from "../testing/site-app.ts";
import { apiMarkdown } from "./api-markdown.ts";
import { mediaOf, operations } from "./operations.ts";
import { samples } from "./samples.ts";
import { fieldsOf } from "./schema-fields.ts";

describe("Markdown", () => {
  const text = apiMarkdown();

  test("names every operation with its method and path, and every code it answers", () => {
    for (const { method, path, operationId, summary, responses } of operations) {
      const start = text.indexOf(
        `### ${summary}\n\n\`${method} ${path}\` (operation \`${operationId}\`)`,
      );
      expect([path, start > 0]).toEqual([path, true]);
      const next = text.indexOf("\n### ", start + 1);
      const own = text.slice(start, next === -1 ? undefined : next);
      for (const code of Object.keys(responses)) {
        expect([path, own.includes(code === "200" ? "200: " : `\n- ${code}: `)]).toEqual([
          path,
          true,
        ]);
      }
    }
  });

  test("has a row for every field that an operation takes or gives, nested ones by their path", () => {
    for (const { requestBody, responses } of operations) {
      const schemas = [mediaOf(requestBody).schema ?? {}, mediaOf(responses["200"]).schema ?? {}];
      for (const { path } of schemas.flatMap((schema) => fieldsOf(schema))) {
        expect(text).toContain(`| \`${path}\` | `);
      }
    }
    expect(text).toContain("| `items[].utf8` | string or null | no |");
    expect(text).toContain('| `request_timeout` | string, default "5m" | yes |');
    expect(text).toContain("| `batch_size` | integer or null, 1 to 1000, default 1 | no |");
  });
});

describe("samples and examples", () => {
  const bodyOf = (id: string) => {
    const operation = operations.find(({ operationId }) => operationId === id);
    if (operation === undefined) throw new Error(`no operation is called '${id}'`);
    return { path: operation.path, body: mediaOf(operation.requestBody).example as object };
  };

  test("the examples tell one story: what the first makes, the next ones use", async () => {
    await using app = await openTestApp();
    const call = async (id: string, given: object = {}) => {
      const { path, body } = bodyOf(id);
      const reply = await app.app.handle(
        new Request(`http://localhost${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ ...body, ...given }),
        }),
      );
      expect([id, reply.status]).toEqual([id, 200]);
      return (await reply.json()) as { items: { id: string }[]; partition: number };
    };
    await call("createQueue");
    await call("produce");
    const { items, partition } = await call("lease");
    const [first = "", second = ""] = items.map(({ id }) => id);
    await call("extend", { partition, ids: [first, second] });
    await call("retry", { partition, items: [{ id: first, retry_at: null, dead: false }] });
    await call("complete", { partition, ids: [second] });
    for (const id of ["listQueues", "queueInfo", "updateQueue", "stats", "inspect"]) await call(id);
    for (const id of ["pause", "resume", "reload", "listItems", "listScheduled"]) await call(id);
    await call("importItems");
    await call("deleteItems");
    await call("clear");
    await call("deleteQueue", { force: true });
  });

  const programs: Readonly<Record<keyof typeof samples, readonly (string | null)[]>> = {
    curl: [Bun.which("sh")],
    TypeScript: [process.execPath],
    Python: [Bun.which("python3")],
    Go: [Bun.which("go"), "run"],
  };
  const extensions = { curl: "sh", TypeScript: "ts", Python: "py", Go: "go" } as const;
  const languages = (Object.keys(samples) as (keyof typeof samples)[]).filter(
    (language) => programs[language][0] !== null,
  );

  test.each(languages)(
    "%s: with and without a body, a sample gets a 200",
    async (language) => {
      await using app = await openTestApp();
      const server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        reusePort: false,
        fetch: (request) => app.app.handle(request),
      });
      const folder = mkdtempSync(join(tmpdir(), "holdfast-samples-"));
      const [program = "", ...argv] = programs[language].map(String);
      for (const id of ["createQueue", "pause", "health"]) {
        const file = join(folder, `${id}.${extensions[language]}`);
        const code = samples[language](bodyOf(id));
        writeFileSync(file, code.replaceAll("localhost:9090", `127.0.0.1:${server.port}`));
        const { stdout, stderr } = Bun.spawn([program, ...argv, file], {
          stdout: "pipe",
          stderr: "pipe",
          env: { ...process.env, GOTOOLCHAIN: "local", GOPROXY: "off" },
        });
        const [printed, failed] = await Promise.all([
          new Response(stdout).text(),
          new Response(stderr).text(),
        ]);
        const wanted = id === "health" ? /"status":\s?"ok"/ : /code"?'?:\s?200/;
        expect([id, printed, failed]).toEqual([
          id,
          expect.stringMatching(wanted),
          expect.anything(),
        ]);
      }
      rmSync(folder, { recursive: true });
      await server.stop(true);
    },
    120_000,
  );
});

test(
  "what Test Request loads is within its weight",
  async () => {
    await ensureBuilt();
    const assets = join(folders.site, "assets");
    // What every page has loaded by then.
    const page = readFileSync(join(folders.site, "api/index.html"), "utf8");
    const seen = new Set([...page.matchAll(/\/assets\/([^"]+\.js)/g)].map(([, name = ""]) => name));
    const follow = (file: string): number => {
      if (seen.has(file)) return 0;
      seen.add(file);
      const code = readFileSync(join(assets, file), "utf8");
      const imports = [...code.matchAll(/(?:from|import)\s*["'`]\.\/([^"'`]+\.js)["'`]/g)];
      const inner = imports.reduce((sum, [, name = ""]) => sum + follow(name), 0);
      const compressed = join(assets, `${file}.br`);
      return inner + statSync(existsSync(compressed) ? compressed : join(assets, file)).size;
    };
    const [start] = [...new Bun.Glob("api-client-*.js").scanSync(assets)];
    const bytes = follow(start ?? "");
    expect(bytes).toBeGreaterThan(100_000);
    expect(bytes).toBeLessThanOrEqual(760_000);
  },
  buildTimeoutMs,
);
