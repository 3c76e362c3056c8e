import { expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judgeBun } from "./setup.ts";

test.each([
  ["1.4.5", null],
  ["1.4.4", true],
  ["1.4.5-canary.1", true],
  ["1.10.0", false],
  ["2.0.0", false],
] as const)("judgeBun: %s against 1.4.5, fatal: %p", (running, fatal) => {
  const verdict = judgeBun({ running, pinned: "1.4.5" });
  expect(verdict?.fatal ?? null).toBe(fatal);
  if (verdict !== null) {
    expect(verdict.text).toContain(`expected 1.4.5, got ${running}.`);
  }
});

test("judgeBun: the version that package.json pins is a plain one", async () => {
  const { packageManager } = await Bun.file(join(import.meta.dir, "../package.json")).json();
  expect(packageManager).toMatch(/^bun@\d+\.\d+\.\d+$/);
});

/** A separate checkout whose packages are folders, so that nothing is downloaded. */
const packages = {
  dependencies: { near: "file:near" },
  optionalDependencies: { pages: "file:pages" },
  devDependencies: { proofs: "file:proofs" },
};

async function setup() {
  const folder = mkdtempSync(join(tmpdir(), "setup-"));
  cpSync(join(import.meta.dir, "setup.ts"), join(folder, "scripts/setup.ts"));
  const write = (path: string, content: object) =>
    Bun.write(join(folder, path), JSON.stringify(content));
  const pinned = { name: "fresh", packageManager: `bun@${Bun.version}` };
  for (const name of ["near", "pages", "proofs"]) {
    await write(`${name}/package.json`, { name, version: "1.0.0" });
  }
  await write("package.json", { ...pinned, ...packages });
  Bun.spawnSync([process.execPath, "install", "--lockfile-only"], { cwd: folder });
  return {
    pin: (content: object) => write("package.json", { ...pinned, ...content }),
    has: (path: string) => existsSync(join(folder, path)),
    run: (...words: readonly string[]) => {
      const command = [process.execPath, join(folder, "scripts/setup.ts"), ...words];
      const { exitCode, stderr } = Bun.spawnSync(command, { cwd: tmpdir() });
      return { exitCode, said: stderr.toString() };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

test("setUp: installs what is missing, once", async () => {
  using checkout = await setup();
  const installing = "Installing packages as bun.lock has them ...\n";
  expect(checkout.has("node_modules/near")).toBe(false);
  expect(checkout.run()).toEqual({ exitCode: 0, said: installing });
  expect(checkout.has("node_modules/near")).toBe(true);
  expect(checkout.run()).toEqual({ exitCode: 0, said: "" });
  await checkout.pin({ ...packages, version: "2.0.0" });
  expect(checkout.run()).toEqual({ exitCode: 0, said: installing });
});

test("setUp: installs what the purpose needs, and keeps what an earlier one needed", async () => {
  using checkout = await setup();
  const there = () =>
    ["near", "pages", "proofs"].filter((name) => checkout.has(`node_modules/${name}`));
  const installing = "Installing packages as bun.lock has them ...\n";
  expect(checkout.run("serve")).toEqual({ exitCode: 0, said: installing });
  expect(there()).toEqual(["near"]);
  expect(checkout.run("site")).toEqual({ exitCode: 0, said: installing });
  expect(there()).toEqual(["near", "pages"]);
  expect(checkout.run("check")).toEqual({ exitCode: 0, said: installing });
  expect(there()).toEqual(["near", "pages", "proofs"]);
  await checkout.pin({ ...packages, version: "2.0.0" });
  expect(checkout.run("serve")).toEqual({ exitCode: 0, said: installing });
  expect(there()).toEqual(["near", "pages", "proofs"]);
  expect(checkout.run("check")).toEqual({ exitCode: 0, said: "" });
});

test("setUp: an unknown purpose is refused", async () => {
  using checkout = await setup();
  expect(checkout.run("all")).toEqual({
    exitCode: 2,
    said: "unexpected argument; expected serve or site or check, got all\n",
  });
});

test("a server starts with its dependencies alone", async () => {
  const { dependencies } = await Bun.file(join(import.meta.dir, "../package.json")).json();
  const { success, outputs, logs } = await Bun.build({
    entrypoints: ["scripts/start.ts", "server/shard.worker.ts"].map((file) =>
      join(import.meta.dir, "..", file),
    ),
    target: "bun",
    packages: "external",
    throw: false,
  });
  expect({ success, logs }).toEqual({ success: true, logs: [] });
  const texts = await Promise.all(outputs.map((output) => output.text()));
  const imported = texts
    .flatMap((text) => new Bun.Transpiler({ loader: "js" }).scanImports(text))
    .map(({ path }) => path)
    .filter((path) => !isBuiltin(path) && !/^(bun$|bun:|[./])/.test(path))
    .map((path) => /^(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path);
  expect(imported).toContain("elysia");
  expect(imported.filter((name) => !(name in dependencies))).toEqual([]);
});

test("setUp: a package.json that bun.lock does not follow is refused, and says why", async () => {
  using checkout = await setup();
  await checkout.pin({ dependencies: {} });
  const { exitCode, said } = checkout.run();
  expect(exitCode).toBe(1);
  expect(said).toContain("lockfile had changes, but lockfile is frozen");
  expect(said).toEndWith("expected bun install to end with 0, got 1\n");
});

test("setUp: a Bun older than the pinned one is refused before anything is installed", async () => {
  using checkout = await setup();
  await checkout.pin({ packageManager: "bun@99.0.0" });
  const { exitCode, said } = checkout.run();
  expect(exitCode).toBe(1);
  expect(said).toStartWith(`Bun is too old; expected 99.0.0, got ${Bun.version}.`);
  expect(checkout.has("node_modules")).toBe(false);
});
