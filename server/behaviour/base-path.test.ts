// A server behind a proxy that does not strip the path prefix.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { createClient } from "../../client/client.ts";
import { operations, pages } from "../../openapi/operations.ts";
import { readConfig } from "../config/config.ts";
import { type ListeningApp, listeningApp } from "../testing/listening-app.ts";

const basePath = "/holdfast";
const settings = { lease_timeout: "1m", expire_timeout: "1h" };
let server: ListeningApp;

beforeAll(async () => {
  server = await listeningApp({ basePath });
});
afterAll(() => server.stop());

const get = (path: string, init: RequestInit = {}) => fetch(`${server.url}${path}`, init);

test.each([basePath, `${basePath}/`, ""])(
  "base path: a client at %j can use every operation",
  async (path) => {
    const client = createClient({ url: `${server.url}${path}` });
    const queue = client.queue(`at${path.replaceAll("/", "-")}`);
    await queue.create(settings);
    await queue.produce("one");
    const lease = await queue.lease();
    expect(lease?.items.map((item) => item.text())).toEqual(["one"]);
    await lease?.complete();
    expect(await client.health()).toMatchObject({ status: "ok" });
    expect(await client.metrics()).toContain("holdfast_queues");
    const refused = client.backup().catch((error: unknown) => error);
    expect(await refused).toMatchObject({ reason: "backups_off" });
  },
);

test("base path: requests under it are counted by operation", async () => {
  const counted = async () => {
    const text = await (await get(`${basePath}/metrics`)).text();
    const line = /^holdfast_requests_total\{operation="whoAmI",code="200"\} (\d+)$/m.exec(text);
    return Number(line?.[1] ?? 0);
  };
  const before = await counted();
  for (const path of ["", basePath]) await createClient({ url: server.url + path }).whoAmI({});
  expect(await counted()).toBe(before + 2);
});

test("base path: probes, wrong methods and unknown paths", async () => {
  const status = async (path: string, method = "GET") => {
    const response = await get(path, { method });
    return [response.status, response.headers.get("allow")];
  };
  for (const { path, method } of [pages.health, pages.livez, pages.readyz, pages.metrics]) {
    expect([path, ...(await status(basePath + path, method))]).toEqual([path, 200, null]);
    expect([path, ...(await status(basePath + path, "DELETE"))]).toEqual([path, 405, method]);
  }
  expect(await status(basePath + operations.stats.path)).toEqual([405, "POST"]);
  for (const path of [
    "/holdfast",
    "/holdfast/",
    "/holdfast/docs",
    "/holdfasts/health",
    "/v1/holdfast",
  ]) {
    expect([path, ...(await status(path))]).toEqual([path, 404, null]);
  }
});

test("base path: the API page loads everything from under it, and the document has it in its servers", async () => {
  const page = await (await get(`${basePath}/swagger`)).text();
  const [, script = ""] = /src="([^"]*scalar[^"]*)"/.exec(page) ?? [];
  expect(script).toStartWith(`${basePath}/swagger/`);
  expect(page).toContain(`${basePath}/swagger/json`);
  expect(page).not.toMatch(/"\/swagger/);
  expect((await get(script)).status).toBe(200);
  const { servers, ...rest } = await (await get(`${basePath}/swagger/json`)).json();
  expect(servers.map(({ url }: { url: string }) => url)).toEqual([
    "http://localhost:9090/holdfast",
    "https://{host}/holdfast",
  ]);
  const { servers: _, ...usual } = await Bun.file(
    join(import.meta.dir, "../../openapi/openapi.json"),
  ).json();
  expect(rest).toEqual(usual);
});

test.each([
  ["", true],
  ["/holdfast", true],
  ["/tools/holdfast-1", true],
  ["holdfast", false],
  ["/holdfast/", false],
  ["/", false],
  ["/a b", false],
  ["/a//b", false],
  ["/{a}", false],
])("base path: %j is valid: %j", (given, isValid) => {
  const argv = given === "" ? [] : ["--base-path", given];
  const read = readConfig({ argv, env: {}, readFile: () => "" });
  if (read.ok) expect([isValid, read.config.basePath]).toEqual([true, given]);
  else {
    expect([isValid, read.faults]).toEqual([
      false,
      [`--base-path is invalid; expected a path such as /holdfast, got ${JSON.stringify(given)}`],
    ]);
  }
});
