// Pastes the first steps as the pages show them.

import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { firstSteps } from "../../content/first-steps.ts";
import { freePort } from "../../testing/child-server.ts";
import { siteConfig } from "../site-config.ts";
import type { SiteBrowser } from "./site-browser.ts";

const root = join(import.meta.dir, "../..");
const pages = ["/", "/docs/intro", "/docs/quick-start"];

export function testFirstSteps(browser: () => SiteBrowser): void {
  test("the first steps, copied from any page and pasted, complete an item", async () => {
    const blocks = await Promise.all(pages.map((path) => copied(browser(), path)));
    expect(blocks).toEqual(pages.map(() => firstSteps(siteConfig.repository).trimEnd()));
    const replies = await paste(blocks[0] ?? "");
    // Readiness, the creation of two queues, and a produce.
    expect(replies.slice(0, 4).map(({ code }) => code)).toEqual([200, 200, 200, 200]);
    const [lease, completed] = replies.slice(4);
    expect(lease?.items).toMatchObject([{ attempts: 1, bytes: btoa("two anchors") }]);
    expect(completed).toMatchObject({ code: 200 });
    expect(replies).toHaveLength(6);
  });
}

async function copied(browser: SiteBrowser, path: string): Promise<string> {
  await using visitor = await browser.fresh({
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const { page, visit } = visitor;
  await visit(path);
  const block = page.locator(".code", { hasText: "npx --yes bun start" }).first();
  const button = block.getByRole("button", { name: "Copy code" });
  return await browser.copiedBy(
    () => button.click(),
    block.getByRole("button", { name: "Copied" }),
  );
}

interface Reply {
  readonly code?: number;
  readonly items?: readonly unknown[];
}

/** Returns the block's output. It clones this tree and uses a free port. */
async function paste(block: string): Promise<readonly Reply[]> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-first-steps-"));
  try {
    return await pasteIn(folder, block);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function pasteIn(folder: string, block: string): Promise<readonly Reply[]> {
  const port = String(freePort());
  writeNpx(folder);
  const clone = `git clone --quiet '${root}' holdfast`;
  const own = /^git clone \S+ holdfast$/m;
  const inClone = own.test(block) ? block.replace(own, clone) : `${clone}\ncd holdfast\n${block}`;
  const script = inClone.replaceAll("9090", port);
  const file = join(folder, "steps.sh");
  writeFileSync(file, `trap 'kill %1' EXIT\n${script}\n`);
  const child = Bun.spawn(["bash", file], {
    cwd: folder,
    env: { ...process.env, PATH: `${folder}/bin:${process.env["PATH"]}`, HOLDFAST_PORT: port },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [text, log] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`the first steps fail\n${text}\n${log}`);
  return text
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Reply);
}

/** Makes an `npx` that starts this Bun, and uses what a first start would install and build. */
function writeNpx(folder: string): void {
  const npx = join(folder, "bin/npx");
  mkdirSync(join(folder, "bin"));
  writeFileSync(
    npx,
    `#!/bin/sh\nln -s '${root}/node_modules' '${root}/build' .\nshift 2\nexec '${process.execPath}' "$@"\n`,
  );
  chmodSync(npx, 0o755);
}
