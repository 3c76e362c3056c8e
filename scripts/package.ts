// `bun run package [client | server]`: makes the packages in `dist/` and the file of each. They are
// plain JavaScript with declarations, without dependencies.
//
//   holdfast-client/  for any runtime; the contract is precomputed, so TypeBox is not included;
//                     in cjs/ for programs that `require` it
//   holdfast/
//     cli/            the command `holdfast`, with the server and its dependencies
//     build/          the site, where the server finds it: beside the folder of its module
//     engine/         the engine as a library, for Bun, in one file; other runtimes get an error
//     stores/         declarations imported by those of the engine

import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ensureBuilt } from "../app/build/ensure-built.ts";
import { folders } from "../app/build/site-folder.ts";
import * as wire from "../client/wire.ts";
import { wireDeclarations } from "../openapi/declarations.ts";
import manifest from "../package.json" with { type: "json" };
import { root } from "./setup.ts";

const dist = join(root, "dist");
const declared = join(dist, "declared");
const client = join(dist, "holdfast-client");
const server = join(dist, "holdfast");

/** Replaces a module by the values that it exports. */
const workedOut: Bun.BunPlugin = {
  name: "worked out",
  setup(build) {
    build.onLoad({ filter: /client[\\/]wire\.ts$/ }, () => ({
      loader: "js",
      contents: Object.entries(wire)
        .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
        .join("\n"),
    }));
  },
};

/** Throws with the bundler's messages. */
async function bundle(options: Bun.BuildConfig): Promise<readonly Bun.BuildArtifact[]> {
  const { success, logs, outputs } = await Bun.build({ throw: false, ...options });
  if (!success) throw new Error(`the bundle failed; ${logs.map(String).join("\n")}`);
  return outputs;
}

/** Generates the declarations of sources and their imports under `dist/declared/`. */
function declare(sources: readonly string[], types: readonly string[]): void {
  const options = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: root,
      outDir: declared,
      types,
    },
    include: [],
    files: sources.map((source) => join(root, source)),
  };
  const file = join(dist, "tsconfig.json");
  writeFileSync(file, JSON.stringify(options));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const run = Bun.spawnSync([process.execPath, compiler, "-p", file], { cwd: root });
  rmSync(file);
  if (run.exitCode !== 0) throw new Error(`the declarations failed; ${run.stdout}${run.stderr}`);
}

/** Copies a declaration and its imports to a package, with their paths adapted. */
function publish(entry: string, { from, to }: { from: string; to: string }): void {
  const published = new Set<string>();
  const copy = (file: string): void => {
    if (published.has(file)) return;
    published.add(file);
    const text = readFileSync(join(declared, file), "utf8");
    for (const [, path = ""] of text.matchAll(/(?:from |import\()"(\.[^"]*)\.ts"/g)) {
      copy(`${join(dirname(file), path)}.d.ts`);
    }
    const target = join(to, relative(from, file));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text.replaceAll(/((?:from |import\()"\.[^"]*)\.ts"/g, '$1.js"'));
  };
  copy(entry);
}

async function buildClient(): Promise<void> {
  // Compiled without the types of any runtime, so it runs on all of them.
  declare(["client/index.ts"], []);
  writeFileSync(join(declared, "client/wire.d.ts"), wireDeclarations());
  for (const [to, format] of [
    [client, "esm"],
    [join(client, "cjs"), "cjs"],
  ] as const) {
    await bundle({
      entrypoints: [join(root, "client/index.ts")],
      outdir: to,
      target: "browser",
      format,
      plugins: [workedOut],
    });
    publish("client/index.d.ts", { from: "client", to });
  }
  // Marks the files as CommonJS for runtimes and compilers.
  writeFileSync(join(client, "cjs/package.json"), '{ "type": "commonjs" }\n');
  const forImport = { types: "./index.d.ts", default: "./index.js" };
  const forRequire = { types: "./cjs/index.d.ts", default: "./cjs/index.js" };
  await pack(client, {
    description: "The client of Holdfast, a durable message queue, for any runtime that has fetch.",
    // For compilers and bundlers that do not read `exports`.
    main: forRequire.default,
    types: forRequire.types,
    exports: {
      ".": { import: forImport, require: forRequire },
      "./package.json": "./package.json",
    },
    sideEffects: false,
    engines: { node: manifest.engines.node },
    peerDependencies: manifest.peerDependencies,
    peerDependenciesMeta: manifest.peerDependenciesMeta,
  });
}

/** Writes the manifest of a package, and its file beside its folder. */
async function pack(folder: string, own: object): Promise<void> {
  const { version, license, type } = manifest;
  const name = relative(dist, folder);
  const text = JSON.stringify({ name, version, license, type, ...own }, null, 2);
  writeFileSync(join(folder, "package.json"), `${text}\n`);
  cpSync(join(root, "LICENSE"), join(folder, "LICENSE"));
  const command = [process.execPath, "pm", "pack", "--quiet", "--destination", dist];
  const packed = Bun.spawnSync(command, { cwd: folder });
  if (packed.exitCode !== 0) throw new Error(`${name} was not packed; ${packed.stderr}`);
  console.log(relative(root, packed.stdout.toString().trim()));
}

/** The path of the worker's module after bundling. */
const workerModule: Bun.BunPlugin = {
  name: "worker module",
  setup(build) {
    build.onLoad({ filter: /server[\\/]server\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      const contents = source.replaceAll(/"\.\/(\w+)\.worker\.ts"/g, '"./$1.worker.js"');
      if (contents === source) throw new Error("server/server.ts names no worker");
      return { loader: "ts", contents };
    });
  },
};

async function buildCommandLine(): Promise<void> {
  const target = join(server, "cli");
  await bundle({
    entrypoints: ["cli/main.ts", "server/shard.worker.ts"].map((file) => join(root, file)),
    outdir: target,
    naming: "[name].[ext]",
    target: "bun",
    format: "esm",
    plugins: [workerModule],
  });
  // `import.meta.dir` of a bundled library is a path of the build machine.
  for (const name of ["main.js", "shard.worker.js"]) {
    const file = join(target, name);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(`${root}/`, "./"));
  }
  cpSync(join(root, "cli/launch.sh"), join(target, "launch.sh"));
  chmodSync(join(target, "launch.sh"), 0o755);
}

/**
 * Omits the compressed files: they would be half of the package, and most reads are over loopback.
 */
async function copySite(): Promise<void> {
  await ensureBuilt();
  const target = join(server, "build");
  const filter = (file: string): boolean => !/\.(br|gz)$/.test(file);
  cpSync(folders.site, join(target, "site"), { recursive: true, filter });
  cpSync(folders.manifest, join(target, "site.json"));
}

/** Replaces the engine on runtimes other than Bun. The names must exist to be imported. */
const needsBun = `export let createEngine, DeadLetter, never, QueueError, StoreError;
throw new Error(
  "the engine of 'holdfast' needs Bun, whose SQLite it stores in; run the program with Bun, or import 'holdfast-client' and call a server",
);
`;

async function buildEngine(): Promise<void> {
  await bundle({
    ...{ target: "bun", format: "esm" },
    entrypoints: [join(root, "engine/embed.ts")],
    outdir: join(server, "engine"),
  });
  writeFileSync(join(server, "engine/needs-bun.js"), needsBun);
  declare(["engine/embed.ts", "stores/sqlite/sql.d.ts"], ["bun"]);
  publish("engine/embed.d.ts", { from: ".", to: server });
}

async function buildServer(): Promise<void> {
  await buildCommandLine();
  await copySite();
  await buildEngine();
  const engine = {
    types: "./engine/embed.d.ts",
    bun: "./engine/embed.js",
    node: "./engine/needs-bun.js",
    default: "./engine/embed.js",
  };
  await pack(server, {
    description: manifest.description,
    bin: { holdfast: "./cli/launch.sh" },
    types: engine.types,
    exports: { ".": engine, "./package.json": "./package.json" },
    engines: manifest.engines,
  });
}

const builds: Readonly<Record<string, () => Promise<void>>> = {
  client: buildClient,
  server: buildServer,
};

if (import.meta.main) {
  const words = process.argv.slice(2);
  const unknown = words.find((word) => !(word in builds));
  if (unknown !== undefined) {
    console.error(`unexpected argument; expected client or server, got ${unknown}`);
    process.exit(2);
  }
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
  for (const [name, build] of Object.entries(builds)) {
    if (words.length === 0 || words.includes(name)) await build();
  }
  rmSync(declared, { recursive: true, force: true });
}
