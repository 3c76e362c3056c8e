import { expect, test } from "bun:test";
import { Client } from "./clients.ts";
import { isDrained } from "./load.ts";

test("isDrained: not while a queue could not be deleted, because something is on its way there", async () => {
  const inUse = new Set(["orders", "invoices"]);
  const asked: unknown[] = [];
  using server = Bun.serve({
    port: 0,
    async fetch(request) {
      const body = (await request.json()) as { queue_name: string };
      asked.push({ path: new URL(request.url).pathname, ...body });
      return Response.json({}, { status: inUse.has(body.queue_name) ? 453 : 200 });
    },
  });
  const client = new Client("drain", { port: Promise.resolve(server.port ?? 0) });
  expect(await isDrained(client)).toBe(false);
  inUse.delete("orders");
  expect(await isDrained(client)).toBe(false);
  inUse.delete("invoices");
  expect(await isDrained(client)).toBe(true);
  const harmless = { path: "/v1/queues.delete", force: false, dry_run: true };
  expect(asked.at(-1)).toEqual({ ...harmless, queue_name: "invoices" });
  client.close();
});
