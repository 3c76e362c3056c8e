import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { whyUntraceable } from "../../proof/processes/strace.ts";
import { startListening } from "../../testing/server-process.ts";
import { jsonResponse, sentWhole } from "./reply.ts";

const small = "x".repeat(1_000);
const large = JSON.stringify("é".repeat(100_000));

test("a long reply has the length and the bytes of its text", async () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    reusePort: false,
    fetch: async () => {
      await Bun.sleep(0);
      return jsonResponse(large);
    },
  });
  try {
    const response = await fetch(server.url);
    expect(response.headers.get("content-length")).toBe(String(Buffer.byteLength(large)));
    expect(response.headers.get("transfer-encoding")).toBeNull();
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.text()).toBe(large);
  } finally {
    await server.stop(true);
  }
});

test("a long body can be read without a server", async () => {
  expect(await new Response(sentWhole(large)).text()).toBe(large);
  expect(await new Response(sentWhole(Buffer.from(large))).text()).toBe(large);
  expect(sentWhole(small)).toBe(small);
});

const reason = whyUntraceable();

test.skipIf(reason !== null)(
  `a reply leaves in one system call, however long it is${reason === null ? "" : `; ${reason}`}`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-reply-"));
    const script = `
      import { jsonResponse } from ${JSON.stringify(join(import.meta.dir, "reply.ts"))};
      const server = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        reusePort: false,
        async fetch(request) {
          await Bun.sleep(0);
          return jsonResponse("x".repeat(Number(new URL(request.url).pathname.slice(1))));
        },
      });
      console.log("127.0.0.1:" + server.port);
      process.on("SIGTERM", () => process.exit(0));
    `;
    const trace = join(folder, "trace");
    const calls = "sendto,sendmsg,writev";
    const server = await startListening(["-e", script], {
      under: ["strace", "-D", "-f", "-qq", "-s", "9", "-e", `trace=${calls}`, "-o", trace],
    });
    try {
      const lengths = [100, 14_000, 15_500, 28_000, 100_000, 100];
      for (const length of lengths) {
        const response = await fetch(`http://127.0.0.1:${server.port}/${length}`);
        expect((await response.text()).length).toBe(length);
      }
      const sent = () =>
        readFileSync(trace, "utf8").match(/^.*\b(?:sendto|sendmsg|writev)\(.*$/gm) ?? [];
      // The trace shows a call only after its effect; once the last head is there, all are.
      const heads = () => sent().filter((line) => line.includes('"HTTP/1.1 ')).length;
      while (heads() < lengths.length) await Bun.sleep(5);
      expect(sent()).toHaveLength(lengths.length);
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true });
    }
  },
);
