// Runs the first stage of `deploy/Dockerfile` without Docker: copies its files to an empty folder
// and runs its commands. The tests check the site that this builds.

import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ignore from "@balena/dockerignore";
import { $ } from "bun";
import { DockerfileParser } from "dockerfile-ast";
import { isCurrent } from "../app/build/ensure-built.ts";
import { root } from "./setup.ts";

/** Returns a predicate for the paths of a checkout that `docker build` sends. */
export function sentToImage(): (path: string) => boolean {
  const rules = readFileSync(join(root, "deploy/Dockerfile.dockerignore"), "utf8");
  return ignore({ ignorecase: false }).add(rules).createFilter();
}

/** The commands of the first stage, in order. */
export function imageCommands(): readonly string[] {
  const stage = readFileSync(join(root, "deploy/Dockerfile"), "utf8").split(/^FROM /m)[1] ?? "";
  return DockerfileParser.parse(`FROM ${stage}`)
    .getInstructions()
    .filter((instruction) => instruction.getKeyword() === "RUN")
    .map((instruction) => instruction.getArgumentsContent() ?? "");
}

/**
 * Builds the image's program, and leaves the site in the checkout's `build/`. Throws with the
 * output of a failed command.
 */
async function buildAsImage(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-image-"));
  const context = join(folder, "src");
  try {
    const listed = await $`git ls-files -z --cached --others --exclude-standard`.cwd(root).text();
    const isThere = (path: string) => path !== "" && existsSync(join(root, path));
    for (const path of listed.split("\0").filter(isThere).filter(sentToImage())) {
      cpSync(join(root, path), join(context, path));
    }
    for (const line of imageCommands()) {
      const command = line.replaceAll("/out/", `${folder}/`);
      const { exitCode, stdout, stderr } = await $`sh -c ${command}`.cwd(context).quiet().nothrow();
      if (exitCode !== 0) throw new Error(`the image's build failed: ${line}\n${stdout}${stderr}`);
    }
    const version = await $`${join(folder, "holdfast")} --version`.text();
    if (!version.startsWith("holdfast ")) throw new Error(`it is no holdfast: ${version}`);
    rmSync(join(root, "build"), { recursive: true, force: true });
    await $`mv ${join(context, "build")} ${join(root, "build")}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (!isCurrent()) {
    throw new Error("the image's site is another one than the checkout's: files are missing there");
  }
}

if (import.meta.main) await buildAsImage();
