// Serves the current site on a free loopback port with the server's own handler, without the queue.

import { openSite } from "../../server/http/site.ts";
import { ensureBuilt } from "./ensure-built.ts";
import { folders } from "./site-folder.ts";

export async function serveSite() {
  await ensureBuilt();
  const site = openSite({ ...folders, building: `${folders.site}.building` });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) =>
      (await site(request, new URL(request.url).pathname)) ??
      new Response("not found", { status: 404 }),
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
