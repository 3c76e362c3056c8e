import { expect, test } from "bun:test";
import { join } from "node:path";
import { freePort } from "./child-server.ts";

const module = join(import.meta.dir, "child-server.ts");
/** More than the distance between the first ports tried by two processes. */
const count = 400;

test("freePort: no port is returned twice, across processes", async () => {
  const own = Array.from({ length: count }, freePort);
  const text = `
    const { freePort } = await import(${JSON.stringify(module)});
    console.log(JSON.stringify(Array.from({ length: ${count} }, freePort)));
    process.stdin.resume();`;
  const others = Array.from({ length: 3 }, () =>
    Bun.spawn([process.execPath, "-e", text], { stdin: "pipe", stdout: "pipe" }),
  );
  try {
    const given = await Promise.all(others.map(({ stdout }) => firstLine(stdout)));
    const all = [...own, ...given.flatMap((line) => JSON.parse(line) as number[])];
    expect(all).toHaveLength(4 * count);
    expect(new Set(all).size).toBe(all.length);
  } finally {
    for (const other of others) other.kill();
  }
});

async function firstLine(stdout: ReadableStream<Uint8Array>): Promise<string> {
  let said = "";
  for await (const bytes of stdout) {
    said += new TextDecoder().decode(bytes);
    if (said.includes("\n")) break;
  }
  return said;
}
