// `bun run site:build` and `bun run site:dev`, run by this Bun: the router's own program needs
// Node, which may be missing.

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root, setUp } from "./setup.ts";

const outcome = join(root, "build/site.json");
/** Exists while a build runs; the server then answers page requests with a notice. */
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

/** Removes the files of an earlier build, which the router keeps. */
function clear(): void {
  rmSync(join(root, "build/router"), { recursive: true, force: true });
}

function start(args: readonly string[], mode: string, output: "inherit" | "pipe" = "inherit") {
  return Bun.spawn([process.execPath, "--bun", ...args], {
    // The router's preview server, which renders the pages, supports no other root.
    cwd: join(root, "app"),
    env: { ...process.env, NODE_ENV: mode },
    stdin: "ignore",
    stdout: output,
    stderr: output,
  });
}

/**
 * Builds the site if it is missing; prints one line about it, with the reason if the build fails.
 */
export async function buildMissingSite(): Promise<void> {
  if (existsSync(outcome)) return;
  console.error("Building the site, once; the API answers already ...");
  const atExit = () => rmSync(building, { force: true });
  process.on("exit", atExit);
  // Any failure, such as a full disk, must not affect the server in this process.
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

/** The line of a failed build that best shows the reason. */
function reasonIn(output: string): string {
  const lines = output.split("\n").filter((line) => line.trim() !== "");
  return (lines.find((line) => /error|expected/i.test(line)) ?? lines.at(-1) ?? "").trim();
}
