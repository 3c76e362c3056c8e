// Tests the published packages: packed, checked by linters, installed from their files into an
// empty project without a network, and used there under Node, Bun and Deno.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { publint } from "publint";
import manifest from "../package.json" with { type: "json" };
import { type ListeningApp, listeningApp } from "../server/testing/listening-app.ts";
import { root } from "./setup.ts";
import { denoPath } from "./testing/deno.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-package-"));
const project = join(folder, "project");
const names = ["holdfast", "holdfast-client"] as const;
const installed = (name: string) => join(project, "node_modules", name);
const tarballs = names.map((name) => join(root, `dist/${name}-${manifest.version}.tgz`));
const [, clientTarball = ""] = tarballs;
let server: ListeningApp;

async function run(argv: readonly string[], cwd: string, env: Record<string, string> = {}) {
  const child = Bun.spawn([...argv], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, out, error };
}

/** No server listens there, so registry requests fail. */
const offline = {
  BUN_CONFIG_REGISTRY: "http://127.0.0.1:1",
  npm_config_registry: "http://127.0.0.1:1",
  npm_config_offline: "true",
};

describe("the packages", () => {
  beforeAll(async () => {
    const packed = await run([process.execPath, "run", "package"], root);
    expect(packed).toEqual({
      code: 0,
      out: `dist/holdfast-client-${manifest.version}.tgz\ndist/holdfast-${manifest.version}.tgz\n`,
      error: "",
    });
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), '{"name":"fresh","type":"module"}');
    const added = await run([process.execPath, "add", ...tarballs], project, offline);
    if (added.code !== 0) throw new Error(`they could not be installed; ${added.error}`);
    server = await listeningApp();
  });

  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test("nothing is installed beside them", () => {
    const others = readdirSync(join(project, "node_modules")).filter(
      (name) => !name.startsWith("."),
    );
    expect(others.sort()).toEqual([...names]);
  });

  test.each(names)("%s: publint finds nothing to say", async (name) => {
    const { messages } = await publint({ pkgDir: installed(name), pack: false, strict: true });
    expect(messages).toEqual([]);
  });

  test.each([
    ["holdfast", "esm-only"],
    // Every kind of module resolution; Next.js puts `node10` into its tsconfig.json.
    ["holdfast-client", "strict"],
  ])("%s: attw finds the types, %s", async (name, profile) => {
    const attw = join(root, "node_modules/@arethetypeswrong/cli/dist/index.js");
    const file = join(root, `dist/${name}-${manifest.version}.tgz`);
    const { code, out } = await run(
      [process.execPath, attw, file, "--profile", profile, "--no-emoji", "--no-color"],
      folder,
    );
    expect({ code, out: code === 0 ? "" : out }).toEqual({ code: 0, out: "" });
    expect(out).toContain(`"${name}"`);
  });

  test.each([".", "cjs"])(
    "JavaScript of the client in %s imports nothing and knows no schema",
    (of) => {
      const text = readFileSync(join(installed("holdfast-client"), of, "index.js"), "utf8");
      expect(text).not.toMatch(/^\s*import\b|\brequire\(|import\(|typebox|additionalProperties/im);
    },
  );

  test("the client goes without the server; the server without compressed forms of its pages", () => {
    const files = filesOf("holdfast");
    expect(files.filter((file) => /\.(br|gz)$/.test(file))).toEqual([]);
    const [serverBytes = 0, clientBytes = 0] = tarballs.map((file) => Bun.file(file).size);
    expect(serverBytes).toBeLessThan(7_600_000);
    expect(clientBytes).toBeLessThan(150_000);
  });

  function filesOf(name: string): readonly string[] {
    return [...new Bun.Glob("**/*").scanSync({ cwd: installed(name) })].map((file) =>
      join(installed(name), file),
    );
  }

  test.each(names)("%s: no file tells where it was made", (name) => {
    const files = filesOf(name);
    expect(files.length).toBeGreaterThan(10);
    expect(files.filter((file) => readFileSync(file, "utf8").includes(root))).toEqual([]);
  });

  async function compile(file: string, options: object, compiler = "typescript") {
    const config = join(project, "tsconfig.json");
    const compilerOptions = { strict: true, noEmit: true, types: [], ...options };
    writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }));
    const tsc = join(root, "node_modules", compiler, "bin/tsc");
    const { code, out } = await run([process.execPath, tsc, "-p", config], project);
    return { code, out };
  }

  const browser = { lib: ["ES2022", "DOM", "ESNext.Disposable"], target: "ES2022" };
  const fine = { code: 0, out: "" };

  /** Ten lines each of a producer and a worker, as one program. */
  const program = (url: string, queue: string): string => `
import { createClient, DeadLetter } from "holdfast-client";

const queue = createClient({ url: "${url}" }).queue("${queue}");
await queue.create({ lease_timeout: "1m", expire_timeout: "1h" });
await queue.produce(["one", { json: { two: 2 } }, new Uint8Array([51])]);

const seen = [];
const worker = queue.work((item) => {
  seen.push(item.text());
  if (seen.length === 3) void worker.stop();
}, { concurrency: 1 });
await worker.stopped;
console.log(JSON.stringify({ seen, counts: worker.counts, left: (await queue.inspect()).queued }));
console.log(new DeadLetter("x") instanceof Error);
`;

  const typed = (): string =>
    program("http://localhost:9090", "orders")
      .replace("const seen = []", "const seen: string[] = []")
      .replace("console.log(JSON", "globalThis.reportError(JSON")
      .replace("console.log(new", "globalThis.reportError(new");

  const runtimes = [
    ["Bun", process.execPath],
    ["Node", Bun.which("node")],
    ["Deno", denoPath()],
  ] as const;

  test.each(runtimes.filter(([, path]) => path !== null))(
    "producer and worker run under %s",
    async (name, path) => {
      const file = join(project, `use-${name}.mjs`);
      writeFileSync(file, program(server.url, name));
      const flags = name === "Deno" ? ["run", "--allow-net", "--allow-env"] : [];
      const { code, out, error } = await run([path ?? "", ...flags, file], project);
      const counts = {
        completed: 3,
        retried: 0,
        dead: 0,
        removed: 0,
        released: 0,
        lost: 0,
        running: 0,
      };
      const said = { seen: ["one", '{"two":2}', "3"], counts, left: 0 };
      expect({ code, out, error }).toEqual({
        code: 0,
        out: `${JSON.stringify(said)}\ntrue\n`,
        error: "",
      });
    },
  );

  test.each(runtimes.filter(([name, path]) => name !== "Deno" && path !== null))(
    "a CommonJS program requires the client under %s",
    async (name, path) => {
      const file = join(project, "use.cjs");
      const said = program(server.url, `required-${name}`)
        .replace("import {", "const {")
        .replace('} from "holdfast-client"', '} = require("holdfast-client")');
      writeFileSync(file, `(async () => {${said}})();`);
      const { code, out, error } = await run([path ?? "", file], project);
      expect({ code, error }).toEqual({ code: 0, error: "" });
      expect(out).toStartWith('{"seen":["one","{\\"two\\":2}","3"],');
      expect(out).toEndWith("\ntrue\n");
    },
  );

  test.if(Bun.which("npm") !== null)(
    "npm installs the client from its file, without a network",
    async () => {
      const other = join(folder, "npm-project");
      mkdirSync(other);
      writeFileSync(join(other, "package.json"), '{"name":"fresh","type":"module"}');
      const npm = ["npm", "install", "--no-audit", "--no-fund", clientTarball];
      expect(await run(npm, other, offline)).toMatchObject({ code: 0 });
      expect(readdirSync(join(other, "node_modules"))).toContain("holdfast-client");
    },
  );

  test("its types compile under strict rules without those of any runtime, and are those of the contract", async () => {
    writeFileSync(join(project, "uses.ts"), typed());
    writeFileSync(
      join(project, "same.ts"),
      `import type { Calls as Published, Replies, Requests } from "holdfast-client";
import type { Calls } from ${JSON.stringify(join(root, "client/wire.ts"))};
import type { OperationId, RequestOf, ResponseOf } from ${JSON.stringify(join(root, "openapi/operations.ts"))};
type Plain<T> = T extends readonly (infer U)[] ? Plain<U>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
export const requests: Same<Plain<{ [Id in OperationId]: RequestOf<Id> }>, Plain<Requests>> = true;
export const replies: Same<Plain<{ [Id in OperationId]: ResponseOf<Id> }>, Plain<Replies>> = true;
export const calls: Same<keyof Calls<object>, keyof Published<object>> = true;
`,
    );
    expect(await compile("uses.ts", { ...browser, module: "nodenext" })).toEqual(fine);
    const bundled = { module: "preserve", moduleResolution: "bundler" };
    expect(await compile("uses.ts", { ...browser, ...bundled })).toEqual(fine);
    const own = {
      ...bundled,
      allowImportingTsExtensions: true,
      exactOptionalPropertyTypes: true,
    };
    const same = { ...own, lib: ["ESNext", "DOM"], target: "ESNext", skipLibCheck: true };
    expect(await compile("same.ts", same)).toEqual(fine);
  });

  test("the oldest TypeScript that the docs name reads its types, for modules and for CommonJS", async () => {
    const { version } = JSON.parse(
      readFileSync(join(root, "node_modules/typescript-oldest/package.json"), "utf8"),
    );
    const [, major, minor] = /^(\d+)\.(\d+)\./.exec(version) ?? [];
    const docs = readFileSync(join(root, "content/docs/client.mdx"), "utf8");
    expect(docs).toContain(`TypeScript ${major}.${minor} or later`);
    writeFileSync(join(project, "uses.mts"), typed());
    const required = typed().replace(/(?<=from .*;)/, "\nasync function use() {");
    writeFileSync(join(project, "uses.cts"), `${required}}\nvoid use();`);
    const options = { ...browser, module: "node16" };
    expect(await compile("uses.mts", options, "typescript-oldest")).toEqual(fine);
    expect(await compile("uses.cts", options, "typescript-oldest")).toEqual(fine);
    const node10 = { ...browser, module: "esnext", moduleResolution: "node10" };
    writeFileSync(join(project, "uses.ts"), typed());
    expect(await compile("uses.ts", node10, "typescript-oldest")).toEqual(fine);
  });

  /** A PATH with only Bun and the programs of the shell script. */
  function programs(): string {
    const path = join(folder, "programs");
    mkdirSync(path, { recursive: true });
    const found = {
      bun: process.execPath,
      dirname: Bun.which("dirname"),
      readlink: Bun.which("readlink"),
    };
    for (const [name, file] of Object.entries(found)) {
      if (!existsSync(join(path, name))) symlinkSync(file ?? "", join(path, name));
    }
    return path;
  }

  test("the command finds Bun, or says that it is needed", async () => {
    const command = [join(project, "node_modules/.bin/holdfast"), "--version"];
    expect(await run(command, project, { PATH: programs() })).toEqual({
      code: 0,
      out: `holdfast ${manifest.version}\n`,
      error: "",
    });
    expect(await run(command, project, { PATH: folder })).toEqual({
      code: 1,
      out: "",
      error: "holdfast needs Bun, whose SQLite it stores in: npm install --global bun\n",
    });
  });

  test("the command serves and works from the installed package, with nothing beside it", async () => {
    const command = join(project, "node_modules/.bin/holdfast");
    const words = ["serve", "--port", "0", "--data", join(project, "served")];
    const child = Bun.spawn([command, ...words], {
      cwd: project,
      env: { ...process.env, PATH: programs() },
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      let greeting = "";
      for await (const chunk of child.stdout) {
        greeting += new TextDecoder().decode(chunk);
        if (greeting.includes("items")) break;
      }
      const env = { HOLDFAST_URL: /http:\S+/.exec(greeting)?.[0] ?? "", PATH: programs() };
      const holdfast = (...rest: string[]) => run([command, ...rest], project, env);
      expect(await holdfast("queues", "create", "orders")).toMatchObject({ code: 0 });
      expect(await holdfast("produce", "orders", "x")).toMatchObject({ code: 0 });
      const { out } = await holdfast("lease", "orders", "--json");
      expect(JSON.parse(out).items).toMatchObject([{ bytes: btoa("x") }]);
      expect(greeting).toContain(`site     ${env.HOLDFAST_URL}/\n`);
      const home = await fetch(env.HOLDFAST_URL);
      expect([home.status, await home.text()]).toEqual([200, expect.stringContaining("<title>")]);
      const intro = await fetch(`${env.HOLDFAST_URL}/docs/intro/`);
      expect(intro.status).toBe(200);
      const text = await intro.text();
      expect(text).toContain("<h1");
      // The page's script is included, and its policy allows it.
      const [, script = ""] = /"(\/assets\/[^"]+\.js)"/.exec(text) ?? [];
      expect((await fetch(env.HOLDFAST_URL + script)).status).toBe(200);
      expect(intro.headers.get("content-security-policy")).toMatch(/script-src 'self' 'sha256-/);
    } finally {
      child.kill("SIGTERM");
      expect(await child.exited).toBe(0);
    }
  });

  /** Stores an item and prints the number of items. */
  const embedding = `import { createEngine } from "holdfast";
const engine = await createEngine({ store: { kind: "sqlite", directory: process.argv[2] } });
await engine.ensureQueue({
  ...{ name: "orders", deadQueue: "", reference: "", maxAttempts: 0, requestedPartitions: 1 },
  ...{ leaseTimeoutMs: 60_000, expireTimeoutMs: 3_600_000 },
});
await engine.produce({ queue: "orders", requestTimeoutMs: 60_000, items: [{ payload: "x" }] });
console.log((await engine.inspect("orders")).queued);
await engine.close();
`;

  function embeddingFile(name: string): string {
    const file = join(project, name);
    writeFileSync(file, embedding);
    return file;
  }

  test("an engine runs from the installed package under Bun, once and again", async () => {
    const command = [process.execPath, embeddingFile("engine.mjs"), "data"];
    expect(await run(command, project)).toEqual({ code: 0, out: "1\n", error: "" });
    expect(await run(command, project)).toEqual({ code: 0, out: "2\n", error: "" });
  });

  test.each([
    ["a bundle", ["--target", "bun", "--outfile", "bundle/app.js"], [process.execPath, "app.js"]],
    ["an executable", ["--compile", "--outfile", "bundle/app"], ["./app"]],
  ] as const)(
    "an engine runs from %s of a program, without the package beside it",
    async (_, flags, command) => {
      const file = embeddingFile("bundled.ts");
      const built = await run([process.execPath, "build", file, ...flags], project);
      expect(built).toMatchObject({ code: 0 });
      const elsewhere = join(folder, `elsewhere-${command.length}`);
      renameSync(join(project, "bundle"), elsewhere);
      const ran = await run([...command, "data"], elsewhere);
      expect(ran).toEqual({ code: 0, out: "1\n", error: "" });
    },
  );

  test("bundled for browsers, a program with an engine is refused with what to do", async () => {
    const file = embeddingFile("browser.ts");
    const { code, error } = await run([process.execPath, "build", file], project);
    expect(code).toBe(1);
    expect(error).toContain("set target to 'bun'");
  });

  test.each(runtimes.filter(([name, path]) => name !== "Bun" && path !== null))(
    "%s: a program with an engine says that it needs Bun",
    async (name, path) => {
      const file = embeddingFile("foreign.mjs");
      const flags = name === "Deno" ? ["run", "--allow-read"] : [];
      const { code, error } = await run([path ?? "", ...flags, file], project);
      expect(code).toBe(1);
      expect(error).toContain(
        "the engine of 'holdfast' needs Bun, whose SQLite it stores in; run the program with Bun, or import 'holdfast-client' and call a server",
      );
    },
  );
});
