// Tests the built API pages, and runs their samples. `testing/reference.ts` tests them in Chromium.

import { beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Element, Root } from "hast";
import { fromHtml } from "hast-util-from-html";
import { toString as textOf } from "hast-util-to-string";
import { visit } from "unist-util-visit";
import { ensureBuilt } from "../build/ensure-built.ts";
import { folders, pagePaths } from "../build/site-folder.ts";
import { openTestApp } from "../testing/site-app.ts";
import { commonReplies, groups, mediaOf, operationPath, operations } from "./operations.ts";
import { samples } from "./samples.ts";
import { fieldsOf, sharedSchemas } from "./schema-fields.ts";

/** Maximum elements before any interaction: the whole page is laid out, even on a phone. */
const elementsMax = 2_500;

describe("the pages as they are built", () => {
  const readPage = (path: string) =>
    fromHtml(readFileSync(join(folders.site, path, "index.html"), "utf8"));
  const elementsOf = (tree: Root, wanted: (element: Element) => boolean = () => true) => {
    const found: Element[] = [];
    visit(tree, "element", (element) => void (wanted(element) && found.push(element)));
    return found;
  };
  beforeAll(ensureBuilt);

  test("pages: none has too many elements", () => {
    const paths = pagePaths().filter((path) => /^\/api(\/|$)/.test(path));
    expect(paths).toHaveLength(operations.length + 1);
    const sizes = paths.map((path) => ({ path, elements: elementsOf(readPage(path)).length }));
    expect(sizes.filter(({ elements }) => elements > elementsMax)).toEqual([]);
  });

  test("operation page: each field of request and reply, nested ones by their path, and each code", () => {
    for (const operation of operations) {
      const { method, path, summary, parameters = [], requestBody, responses } = operation;
      const page = readPage(operationPath(operation));
      const [main] = elementsOf(page, ({ tagName }) => tagName === "main");
      if (main === undefined) throw new Error(`${path} has no <main>`);
      const textOfAll = (tagName: string) =>
        elementsOf({ type: "root", children: [main] }, (one) => one.tagName === tagName).map(
          (one) => textOf(one),
        );
      const fields = [requestBody, responses["200"]].flatMap((part) =>
        fieldsOf(mediaOf(part).schema ?? {}).map((field) => field.path),
      );
      const terms = textOfAll("dt");
      const common =
        textOfAll("p").find((text) => text.endsWith("Replies of all operations.")) ?? "";
      expect([path, textOfAll("h1")]).toEqual([path, [summary]]);
      expect([path, textOfAll("p")]).toEqual([path, expect.arrayContaining([`${method} ${path}`])]);
      const missing = [...fields, ...parameters.map(({ name }) => name)].filter(
        (name) => !terms.includes(name),
      );
      expect([path, missing]).toEqual([path, []]);
      const role = operation["x-role"];
      const needs = textOfAll("p").find((text) => text.startsWith("Where keys are asked for"));
      const told = role === undefined ? "no key needed" : role === "any" ? "a key" : `role ${role}`;
      expect([path, needs]).toEqual([path, expect.stringContaining(told)]);
      const codes = Object.keys(responses).filter(
        (code) => !(terms.includes(code) || common.includes(code)),
      );
      expect([path, codes]).toEqual([path, []]);
      const markdown = readFileSync(join(folders.site, `${operationPath(operation)}.md`), "utf8");
      const unsaid = [
        `# ${summary}`,
        `${method} ${path}`,
        ...fields.map((name) => `\n\`${name}\`\n`),
      ];
      expect([path, unsaid.filter((text) => !markdown.includes(text))]).toEqual([path, []]);
    }
  });

  test("each field has a type and a description", () => {
    const fields = operations.flatMap(({ path, requestBody, responses }) =>
      [requestBody, responses["200"]].flatMap((part) =>
        fieldsOf(mediaOf(part).schema ?? {}).map((field) => ({
          ...field,
          path: `${path} ${field.path}`,
        })),
      ),
    );
    expect(fields.length).toBeGreaterThan(operations.length);
    const unsaid = fields.filter(
      ({ type, description }) => /\bany\b/.test(type) || description === "",
    );
    expect(unsaid.map(({ path }) => path)).toEqual([]);
  });

  test("a field with fixed values names them, also if it is a list", () => {
    const [who, find] = ["whoAmI", "findItems"].map((operationId) =>
      textOf(readPage(operationPath({ operationId }))),
    );
    expect(who).toContain("of produce, consume, read, admin");
    expect(find).toContain("of failed, expired, rejected");
  });

  test("/api: every operation at its anchor, and what all operations have in common", () => {
    const page = readPage("/api");
    const ids = elementsOf(page).map(({ properties }) => properties["id"]);
    for (const { name, operations: own } of groups) {
      for (const { operationId } of own) {
        const anchors = [operationId, `tag/${name.toLowerCase()}/${operationId}`];
        expect(ids).toEqual(expect.arrayContaining(anchors));
      }
    }
    const shared = [
      ...["common-replies", "schemas", "forms", "servers"],
      ...sharedSchemas.map((name) => `schema-${name}`),
    ];
    expect(ids).toEqual(expect.arrayContaining(shared));
    const codes = elementsOf(page, ({ tagName }) => tagName === "dt").map((one) => textOf(one));
    expect(codes).toEqual(expect.arrayContaining([...commonReplies.keys()]));
  });
});

describe("samples and examples", () => {
  const bodyOf = (id: string) => {
    const operation = operations.find(({ operationId }) => operationId === id);
    if (operation === undefined) throw new Error(`no operation is called '${id}'`);
    return { path: operation.path, body: mediaOf(operation.requestBody).example as object };
  };

  test("examples: later ones use what earlier ones created", async () => {
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
