// The published form of the client in a browser, on a page of another origin that the
// server allows. Skipped where there is no Chromium.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { chromiumPath, launchChromium } from "../scripts/chromium.ts";
import { listeningApp } from "../server/testing/listening-app.ts";

const page = (url: string): string => `<!doctype html><title>waiting</title>
<script type="module">
import { createClient } from "/client.js";
const queue = createClient({ url: "${url}" }).queue("orders");
await queue.ensure({ lease_timeout: "1m", expire_timeout: "1h" });
await queue.produce(["one", { json: { two: 2 } }]);
const seen = [];
const worker = queue.work((item) => {
  seen.push(item.text());
  if (seen.length === 2) void worker.stop();
}, { concurrency: 1 });
await worker.stopped;
const refused = await queue.create({}).catch((error) => error);
document.title = JSON.stringify([seen, worker.counts.completed, refused.code]);
</script>`;

test.if(chromiumPath() !== null)("client: producer and worker run in a browser", async () => {
  const built = await Bun.build({ entrypoints: [join(import.meta.dir, "index.ts")] });
  const script = await built.outputs[0]?.text();
  let html = "";
  const site = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    reusePort: false,
    fetch: ({ url }) =>
      new URL(url).pathname === "/client.js"
        ? new Response(script, { headers: { "content-type": "text/javascript" } })
        : new Response(html, { headers: { "content-type": "text/html" } }),
  });
  const origin = `http://127.0.0.1:${site.port}`;
  await using server = await listeningApp({ allowedOrigins: [origin] });
  html = page(server.url);
  const browser = await launchChromium();
  try {
    const tab = await browser.newPage();
    await tab.goto(origin);
    await tab.waitForFunction(() => document.title !== "waiting", null, { timeout: 60_000 });
    expect(JSON.parse(await tab.title())).toEqual([["one", '{"two":2}'], 2, "invalid"]);
  } finally {
    await browser.close();
    await site.stop(true);
  }
});
