// Installs the peers' dependencies: servers from Debian's packages, and clients from npm into a
// scratch folder. Debian's packages stay installed, so that the next run starts at once.

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const policyFile = "/usr/sbin/policy-rc.d";

/** Runs a command to its end; returns its output, or throws with the end of it. */
export async function run(
  command: readonly string[],
  options: { readonly cwd?: string; readonly env?: Record<string, string> } = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, ...options.env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) {
    const said = (stderr || stdout).trim().split("\n").slice(-3).join(" / ");
    throw new Error(`${command.slice(0, 3).join(" ")} ended with ${child.exitCode}; ${said}`);
  }
  return stdout;
}

async function isInstalled(name: string): Promise<boolean> {
  const status = await run(["dpkg-query", "-W", "-f", "$" + "{Status}", name]).catch(() => "");
  return status.includes("install ok installed");
}

async function aptInstall(name: string): Promise<void> {
  await run(["apt-get", "install", "-y", "--no-install-recommends", name], {
    env: { DEBIAN_FRONTEND: "noninteractive" },
  });
}

/** One installation at a time: apt holds a lock, and the policy file below is shared. */
let installing: Promise<void> = Promise.resolve();

export function debianPackage(name: string): Promise<void> {
  const turn = installing.then(() => installOne(name));
  installing = turn.catch(() => undefined);
  return turn;
}

async function installOne(name: string): Promise<void> {
  if (await isInstalled(name)) return;
  // A server's package starts it as a system service unless this file forbids it; the benchmark
  // starts its own server.
  const forbid = !existsSync(policyFile);
  if (forbid) writeFileSync(policyFile, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    await aptInstall(name).catch(async () => {
      // The list of packages may be outdated or missing.
      await run(["apt-get", "update"]);
      await aptInstall(name);
    });
  } finally {
    if (forbid) rmSync(policyFile, { force: true });
  }
}

export async function debianVersion(name: string): Promise<string> {
  const version = await run(["dpkg-query", "-W", "-f", "$" + "{Version}", name]);
  return version.replace(/^\d+:/, "");
}

/** Installs packages, each as `name@version`, into a folder of their own. */
export async function npmPackages(folder: string, packages: readonly string[]): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"name":"peer","private":true}');
  await run([process.execPath, "add", "--exact", ...packages], { cwd: folder });
}

/** The module of an installed package; `Module` declares the part of it that is used. */
export async function loadPackage<Module>(folder: string, name: string): Promise<Module> {
  const path = Bun.resolveSync(name, folder);
  const loaded: Module & { readonly default?: Module } = await import(path);
  return loaded;
}
