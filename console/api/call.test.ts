import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";

const folder = join(import.meta.dir, "..");

test("calls: the console leases nothing; only the page without queues shows the call", async () => {
  const found: string[] = [];
  for await (const path of new Glob("**/*.{ts,tsx}").scan(folder)) {
    if (path.startsWith("testing/") || path.includes(".test.")) continue;
    const source = await Bun.file(`${folder}/${path}`).text();
    if (/"lease"/.test(source)) found.push(path);
  }
  expect(found).toEqual(["pages/overview/no-queues.tsx"]);
});
