import { expect, test } from "bun:test";
import { Glob } from "bun";

test("who looks leases nothing: of all that the console asks, the third call of a first queue alone does", async () => {
  const found: string[] = [];
  for await (const path of new Glob("**/*.{ts,tsx}").scan(import.meta.dir)) {
    if (path.startsWith("testing/") || path.includes(".test.")) continue;
    const source = await Bun.file(`${import.meta.dir}/${path}`).text();
    if (/"lease"/.test(source)) found.push(path);
  }
  expect(found).toEqual(["overview/first-calls.ts"]);
});
