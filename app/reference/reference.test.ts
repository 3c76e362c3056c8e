// The API's page as text, and its samples as they run. In Chromium it is tried by
// `testing/reference.ts`.

import { describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBuilt } from "../build/ensure-built.ts";
import { folders } from "../build/site-folder.ts";
import { openTestApp } from "../testing/site-app.ts";
import { mediaOf, operations } from "./operations.ts";
import { samples } from "./samples.ts";
import { fieldsOf, sharedSchemas } from "./schema-fields.ts";

test("as Markdown: every operation with its fields, nested ones by their path, and its codes", async () => {
  await ensureBuilt();
  const [, ...sections] = readFileSync(join(folders.site, "api.md"), "utf8").split("\n### ");
  for (const { method, path, summary, requestBody, responses } of operations) {
    const own = sections.find((section) => section.startsWith(`${summary}\n`)) ?? "";
    const fields = fieldsOf(mediaOf(requestBody).schema ?? {}, sharedSchemas);
    const expected = [
      `${method} ${path}`,
      ...fields.map((field) => `\n\`${field.path}\`\n`),
      ...Object.keys(responses),
    ];
    expect([path, ...expected.filter((text) => !own.includes(text))]).toEqual([path]);
  }
  const produce = sections.find((section) => section.startsWith("Produce items\n"));
  expect(produce).toContain('default "5m"* How long');
  // What several operations take is shown once.
  const item = sections.find((section) => section.includes("\n`utf8`\n"));
  expect(item).toContain("`utf8`\n\n*string or null, may be absent*");
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
    for (const id of ["createQueue", "produce"]) await call(id);
    const { items, partition } = await call("lease");
    const [first = "", second = ""] = items.map(({ id }) => id);
    await call("extend", { partition, ids: [first, second] });
    await call("retry", { partition, items: [{ id: first }] });
    await call("complete", { partition, ids: [second] });
    const others =
      "listQueues queueInfo updateQueue stats inspect pause resume reload listItems listScheduled importItems deleteItems clear";
    for (const id of others.split(" ")) await call(id);
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

  test.each(languages)("%s: with and without a body, a sample gets a 200", async (language) => {
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
      const { stdout } = Bun.spawn([program, ...argv, file], {
        stderr: "ignore",
        env: { ...process.env, GOTOOLCHAIN: "local", GOPROXY: "off" },
      });
      expect(await new Response(stdout).text()).toMatch(/"status":"ok"|code"?: ?200/);
    }
    rmSync(folder, { recursive: true });
    await server.stop(true);
  });
});
