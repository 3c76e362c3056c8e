// `bun run site:build` and `bun run site:dev`: the site, by this Bun. The router's own
// program asks for Node, which need not be there.

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, setUp } from "./setup.ts";

const outcome = join(root, "build/site.json");
/** There as long as a build runs; the server says so to who asks for a page. */
const building = join(root, "build/site.building");

const router = join(root, "node_modules/@react-router/dev/bin.cjs");
const vite = join(root, "node_modules/vite/bin/vite.js");
const steps = [
  [router, "build"],
  [vite, "build", "--config", join(root, "console/vite.config.ts"), "--logLevel", "error"],
  [join(import.meta.dir, "../app/build/after-build.ts")],
];

if (import.meta.main) {
  setUp("site");
  const [verb = "build", ...rest] = process.argv.slice(2);
  const commands = verb === "dev" ? [[router, "dev", ...rest]] : steps;
  if (verb !== "dev") clear();
  for (const command of commands) {
    const child = start(command, verb === "dev" ? "development" : "production");
    const code = await child.exited;
    if (code !== 0) process.exit(code);
  }
}

/** The router leaves what an earlier build made. */
function clear(): void {
  rmSync(join(root, "build/router"), { recursive: true, force: true });
}

function start(args: readonly string[], mode: string, output: "inherit" | "pipe" = "inherit") {
  return Bun.spawn([process.execPath, "--bun", ...args], {
    // The router's preview server, which renders the pages, knows no other root.
    cwd: join(root, "app"),
    env: { ...process.env, NODE_ENV: mode },
    stdin: "ignore",
    stdout: output,
    stderr: output,
  });
}

/** Builds the site where none is; says so in one line, and why when it cannot. */
export async function buildMissingSite(): Promise<void> {
  if (existsSync(outcome)) return;
  console.error("Building the site, once; the API answers already ...");
  const atExit = () => rmSync(building, { force: true });
  process.on("exit", atExit);
  // Whatever it is, such as a full disk, the server beside it has nothing to do with it.
  const failure = await buildQuietly().catch((cause: Error) => cause.message);
  atExit();
  process.off("exit", atExit);
  const end = failure === null ? "is ready." : `could not be built; ${failure}`;
  console.error(`The site ${end}`);
}

async function buildQuietly(): Promise<string | null> {
  mkdirSync(join(root, "build"), { recursive: true });
  writeFileSync(building, "");
  clear();
  // A server starts without the packages that only the build needs.
  const setup = [join(import.meta.dir, "setup.ts"), "site"];
  for (const command of [setup, ...steps]) {
    const child = start(command, "production", "pipe");
    const stop = () => child.kill();
    process.on("exit", stop);
    const [out, error, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    process.off("exit", stop);
    if (code !== 0) return reasonIn(out + error) || `the build ended with ${code}`;
  }
  return null;
}

/** The line of a failed build that says why, as far as one does. */
function reasonIn(output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  return (lines.find((line) => /error|expected/i.test(line)) ?? lines.at(-1) ?? "").trim();
}
