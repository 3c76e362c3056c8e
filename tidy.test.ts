// Checks the tree itself: what the compiler and the linter cannot see, and that
// the linter's rules on layering fire at all.

import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, normalize, relative } from "node:path";

const root = import.meta.dir;
/** Not looked into: while this runs, other tests may make them again. */
const notOurs = ["node_modules", ".git", ".react-router", "build", "dist", "data"];
const files = readdirSync(root, { withFileTypes: true })
  .filter(({ name }) => !notOurs.includes(name))
  .flatMap((entry) => (entry.isDirectory() ? filesIn(entry.name) : [entry.name]))
  .filter((file) => !/\/(node_modules|\.react-router)\//.test(file))
  .sort();
const sources = files.filter((file) => /\.tsx?$/.test(file));

function filesIn(folder: string): string[] {
  const found = new Bun.Glob("**/*").scanSync({ cwd: join(root, folder), dot: true });
  return [...found].map((file) => `${folder}/${file}`);
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

/** `file:line: text` for each line of the files that the pattern matches. */
function matches(pattern: RegExp, among: readonly string[]): string[] {
  return among.flatMap((file) =>
    read(file)
      .split("\n")
      .flatMap((line, index) =>
        pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
      ),
  );
}

function within(...folders: string[]): string[] {
  return sources.filter(
    (file) => folders.includes(file.split("/")[0] ?? "") && !file.endsWith(".test.ts"),
  );
}

/** This file names what it forbids. */
const others = files.filter((file) => file !== "tidy.test.ts");
const texts = others.filter((file) =>
  /\.(tsx?|css|html|json|lock|md|mdx|sql|toml|yml)$|run$/.test(file),
);

test.each([
  // The linter denies the globals; a property read of another name escapes it.
  /\bMath\.random\b/,
  /\bperformance\.(now|timeOrigin)\b/,
  /\bDate\.now\b/,
  /\bnew Date\b/,
  /\bTemporal\.Now\b/,
  /\bprocess\.hrtime\b/,
  /\bBun\.(nanoseconds|sleep|sleepSync|randomUUIDv7|CryptoHasher)\b/,
  /\bglobalThis\b/,
])("engine: time and chance are handed in; no %s", (pattern) => {
  const among = within("engine").filter(
    (file) => !/^engine\/model\/(clock|random)\.ts$/.test(file),
  );
  expect(among).not.toEqual([]);
  expect(matches(pattern, among)).toEqual([]);
});

test.each([
  /(?<![.\w])fetch\(/,
  /\.connect\(|\bBun\.udpSocket\b|\bnew (WebSocket|XMLHttpRequest|EventSource)\b/,
  /"(node:)?(dgram|http|https|http2|net|tls)"/,
])(
  "server, engine, stores: nothing calls out but to the database and its nodes; no %s",
  (pattern) => {
    const outward = ["stores/postgres/connection.ts", "server/nodes/peer.ts"];
    const among = within("server", "engine", "stores").filter((file) => !outward.includes(file));
    expect(matches(pattern, among)).toEqual([]);
  },
);

test("engine, stores: nothing is printed, except notices of the library's workers", () => {
  const among = within("engine", "stores").filter((file) => file !== "engine/embed.ts");
  expect(matches(/\bconsole\.|\bprocess\.std(out|err)\b/, among)).toEqual([]);
});

test.each([
  /\b(FIXME|TODO|XXX)\b/,
  /\b(test|it|describe)\.(only|skip|todo)\(/,
  /\bdebugger;/,
  /@ts-(ignore|nocheck)|biome-ignore-all/,
])("every source: nothing is left over; no %s", (pattern) => {
  expect(
    matches(
      pattern,
      others.filter((file) => sources.includes(file)),
    ),
  ).toEqual([]);
});

test.each([
  /\/(root|work)\//,
  /(?<![.\w])\/(home|Users)\/[a-z]/,
  /[A-Z]:\\Users\\/,
  /\bregistry\.[a-z]/,
  /\b(npmjs|npmmirror|yarnpkg)\./,
])("every text: no path of one machine and no host of a registry; no %s", (pattern) => {
  expect(matches(pattern, texts)).toEqual([]);
});

test("bun.lock: names packages, not where they are fetched", () => {
  expect(read("bun.lock")).toContain('"elysia"');
  expect(matches(/:\/\//, ["bun.lock"])).toEqual([]);
});

test("package.json: every version is one version", () => {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(read("package.json"));
  const versions = Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies });
  expect(
    versions.filter(([, version]) => !/^(npm:[a-z-]+@)?\d+\.\d+\.\d+$/.test(String(version))),
  ).toEqual([]);
});

/** What these files name; any quoted path counts: an import, a worker's URL, a route of the site. */
function namedIn(among: readonly string[]): ReadonlySet<string> {
  const paths = among.flatMap((file) =>
    [...read(file).matchAll(/["'`]([^"'`\s]+\.tsx?)["'`]/g)].map(([, path = ""]) =>
      normalize(join(dirname(file), path)),
    ),
  );
  return new Set(paths);
}

const started = ["package.json", "knip.json", "bunfig.toml"].map(read).join("\n");
const isEntry = (file: string) =>
  started.includes(file) ||
  /\.(test|config|d)\.ts$|^bench\/[^/]+\.ts$|^app\/(root|routes|entry\.client|entry\.server)\./.test(
    file,
  );

test("every source is imported, or is where something starts", () => {
  const named = namedIn(sources);
  expect(sources.filter((file) => !named.has(file) && !isEntry(file))).toEqual([]);
});

test("testing/: all that only tests use, and nothing else", () => {
  const named = namedIn(sources.filter((file) => !/\/testing\/|\.test\.ts$|^proof\//.test(file)));
  const others = [
    "app",
    "cli",
    "client",
    "console",
    "content",
    "deploy",
    "openapi",
    "scripts",
    "server",
  ];
  const misplaced = within(...others).filter((file) =>
    file.includes("/testing/") ? named.has(file) : !named.has(file) && !isEntry(file),
  );
  expect(misplaced).toEqual([]);
});

describe("vocabulary", () => {
  const forbidden = new Set(
    (
      "ack nack acks job jobs topic topics dlq morgue buried tries ttl cursor expiry " +
      "expiration timestamp manager helper helpers util utils common service impl"
    ).split(" "),
  );
  const wordsOf = (name: string) =>
    name.split(/[-_./]|(?=[A-Z])/).map((word) => word.toLowerCase());

  test("files: no name has a word that the vocabulary forbids", () => {
    expect(sources.filter((file) => wordsOf(file).some((word) => forbidden.has(word)))).toEqual([]);
  });

  test("exports: no name has a word that the vocabulary forbids", () => {
    const declaration = /^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm;
    const names = within("engine", "stores", "server", "openapi", "client").flatMap((file) =>
      [...read(file).matchAll(declaration)].map(([, name = ""]) => `${file} ${name}`),
    );
    expect(names).not.toEqual([]);
    const said = (entry: string) => wordsOf(entry.split(" ")[1] ?? "");
    expect(names.filter((entry) => said(entry).some((word) => forbidden.has(word)))).toEqual([]);
  });
});

test("pages at the root: what they link to is there", () => {
  const pages = files.filter((file) => /^[^/]+\.md$|^engine\/.*\.md$/.test(file));
  const broken = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)]
      .map(([, path = ""]) => join(dirname(page), path))
      .filter((path) => !existsSync(join(root, path)))
      .map((path) => `${page}: ${path}`),
  );
  expect(broken).toEqual([]);
});

test("pages at the root: each source that they name is there", () => {
  const pages = files.filter((file) => /^[^/]+\.md$|^engine\/README\.md$/.test(file));
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/(?<![\w/.*-])[a-z][\w/.-]*\.tsx?(?![\w-])/g)].map(([name]) => ({
      page,
      name,
    })),
  );
  expect(named.length).toBeGreaterThan(50);
  const isThere = (name: string) => sources.some((file) => `/${file}`.endsWith(`/${name}`));
  // What a reader is told to write, and what stands for any file.
  const samples = new Set(["x.ts", "x.test.ts"]);
  expect(named.filter(({ name }) => !samples.has(name) && !isThere(name))).toEqual([]);
});

describe("biome.json", () => {
  const sqlite = 'import { Database } from "bun:sqlite";\nexport const opened = Database;\n';
  const typebox = 'import { Type } from "@sinclair/typebox";\nexport const any = Type;\n';
  const elysia = 'import { Elysia } from "elysia";\nexport const app = Elysia;\n';
  const seam = 'import type { Item } from "../stores/item.ts";\nexport type Its = Item;\n';
  const backend = 'export const load = () => import("../stores/sqlite/store.ts");\n';
  const limits =
    'import { limits } from "../engine/model/limits.ts";\nexport const its = limits;\n';
  const insight = 'import { health } from "../insight/health.ts";\nexport const its = health;\n';
  const exit = 'import { exit } from "../cli/codes.ts";\nexport const its = exit;\n';
  const bounds = 'import { bounds } from "../openapi/bounds.ts";\nexport const its = bounds;\n';
  const clock = "export const now = () => Date.now();\n";
  const floating = "export async function a() {}\nexport function b() {\n  a();\n}\n";
  const inexhaustive =
    'export function one(of: "a" | "b") {\n  switch (of) {\n    case "a":\n      return 1;\n  }\n}\n';

  const long = `export function long(): number[] {\n  return [\n${"    0,\n".repeat(60)}  ];\n}\n`;

  const cycle = (name: string, other: string) =>
    `import { ${other} } from "./${other}.ts";\nexport const ${name} = () => ${other};\n`;

  const typeCycle = (name: string, other: string) =>
    `import type { ${other} } from "./${other}.ts";\nexport type ${name} = ${other} | null;\n`;

  const layering = "lint/style/noRestrictedImports";
  const samples: [file: string, source: string, rule: string | null][] = [
    ["stores/sqlite/a.ts", sqlite, null],
    ["stores/memory/a.ts", sqlite, layering],
    ["engine/sqlite.ts", sqlite, layering],
    ["server/sqlite.ts", sqlite, layering],
    ["bench/sqlite.ts", sqlite, null],
    ["openapi/typebox.ts", typebox, null],
    ["server/config/settings.ts", typebox, null],
    ["server/typebox.ts", typebox, layering],
    ["engine/typebox.ts", typebox, layering],
    ["server/elysia.ts", elysia, null],
    ["engine/elysia.ts", elysia, layering],
    ["openapi/elysia.ts", elysia, layering],
    ["scripts/elysia.ts", elysia, layering],
    ["engine/seam.ts", seam, null],
    ["server/seam.ts", seam, layering],
    ["engine/backend.ts", backend, layering],
    ["server/server.ts", backend, null],
    ["server/limits.ts", limits, null],
    ["openapi/limits.ts", limits, layering],
    ["stores/limits.ts", limits, layering],
    ["server/exit.ts", exit, layering],
    ["cli/limits.ts", limits, layering],
    ["cli/backup.ts", limits.replace("model/limits.ts", "backup.ts"), null],
    ["cli/exit.ts", exit, null],
    ["client/limits.ts", limits, layering],
    ["client/bounds.ts", bounds, null],
    ["client/typebox.ts", typebox, layering],
    ["engine/turn/explains.ts", insight, layering],
    ["engine/relay/runs.ts", insight.replaceAll("insight", "tasks"), layering],
    ["engine/catalog-changes.ts", insight.replace("../", "./"), layering],
    ["engine/engine.ts", insight.replace("../", "./"), null],
    ["engine/operations.ts", insight.replace("../", "./"), null],
    ["engine/insight/search.ts", insight.replace("insight/", "tasks/"), null],
    ["engine/now.ts", clock, "lint/style/noRestrictedGlobals"],
    ["engine/model/clock.ts", clock, null],
    ["server/snake_case.ts", clock, "lint/style/useFilenamingConvention"],
    ["server/extension.ts", limits.replace(".ts", ""), "lint/correctness/useImportExtensions"],
    ["server/barrel.ts", 'export { a } from "./floating.ts";\n', "lint/performance/noBarrelFile"],
    ["server/long.ts", long, "lint/complexity/noExcessiveLinesPerFunction"],
    ["server/long.test.ts", long, null],
    ["server/floating.ts", floating, "lint/nursery/noFloatingPromises"],
    ["server/switch.ts", inexhaustive, "lint/nursery/useExhaustiveSwitchCases"],
    ["server/one.ts", cycle("one", "two"), "lint/suspicious/noImportCycles"],
    ["server/two.ts", cycle("two", "one"), "lint/suspicious/noImportCycles"],
    ["server/three.ts", typeCycle("three", "four"), "lint/suspicious/noImportCycles"],
    ["server/four.ts", typeCycle("four", "three"), "lint/suspicious/noImportCycles"],
    // What the samples import has to be there.
    ["engine/model/limits.ts", "export const limits = {};\n", null],
    ["engine/backup.ts", "export const limits = {};\n", null],
    ["engine/insight/health.ts", "export const health = {};\n", null],
    ["cli/codes.ts", "export const exit = {};\n", null],
    ["openapi/bounds.ts", "export const bounds = {};\n", null],
    ["stores/item.ts", "export type Item = {};\n", "lint/complexity/noBannedTypes"],
  ];

  const folder = realpathSync(mkdtempSync(join(tmpdir(), "tidy-")));
  afterAll(() => rmSync(folder, { recursive: true }));

  test("the rules of the house fire where they have to, and only there", async () => {
    const schema = /^.*"\$schema".*\n/m;
    await Bun.write(join(folder, "biome.json"), read("biome.json").replace(schema, ""));
    await Bun.write(join(folder, "package.json"), read("package.json"));
    for (const [file, source] of samples) {
      await Bun.write(join(folder, file), source);
    }
    const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
    const flags = ["--reporter=github", "--max-diagnostics=none", "--formatter-enabled=false"];
    const run = Bun.spawnSync([process.execPath, biome, "ci", ...flags], { cwd: folder });
    const found = run.stdout.toString().matchAll(/title=(lint\/[\w/]+),file=([^,]+),/g);
    const fired = new Set(
      [...found].map(([, rule, file = ""]) => `${relative(folder, file)} ${rule}`),
    );
    const expected = samples.flatMap(([file, , rule]) =>
      rule === null ? [] : [`${file} ${rule}`],
    );
    expect([...fired].sort()).toEqual(expected.sort());
  });
});
