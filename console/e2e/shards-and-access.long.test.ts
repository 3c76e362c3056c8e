import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ensureBuilt } from "../../app/build/ensure-built.ts";
import { createClient } from "../../client/client.ts";
import type { ServerOverviewReply } from "../../openapi/schemas.ts";
import { LostCommits } from "../../server/observability/lost-commits.ts";
import { Cluster, type NodeProcess, queueOf, settings } from "../../testing/cluster.ts";
import { axeFaults, lookFaults } from "../testing/axe.ts";
import { type ConsoleBrowser, live, narrow, wide } from "../testing/console-browser.ts";
import {
  addQueues,
  adminKey,
  type ConsoleServer,
  openConsoleServer,
  produceKey,
  readKey,
} from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { settled } from "../testing/shifts.ts";

/** What a line of a spark is drawn with, from its first point that is known. */
function pointsOf(path: string | null): number {
  return path?.match(/[ML]/g)?.length ?? 0;
}

function testShardsAndKeys(browser: () => ConsoleBrowser): void {
  test("shards: the history before the visit is drawn", async () => {
    await using server = await openConsoleServer({ testClock: true });
    await addQueues(server, ["orders"]);
    for (let point = 0; point < 5; point += 1) {
      await server.client.queue("orders").produce(["one", "two"]);
      await server.client.advance({ by: "10s" });
    }
    for (const [path, sparks] of [
      ["", ".shards .spark path"],
      ["/shards", ".shard-table .spark path"],
    ] as const) {
      await using visitor = await browser().visit(server.consoleUrl + path);
      const { page, errors } = visitor;
      const drawn = page.locator(`${sparks}[d*=L]`);
      // A line of equal points has no height, and so is never taken to be visible.
      await drawn.first().waitFor({ state: "attached" });
      for (const line of await drawn.all()) {
        expect(pointsOf(await line.getAttribute("d"))).toBeGreaterThanOrEqual(4);
      }
      expect(await drawn.count()).toBe(path === "" ? 1 : 2);
      expect(errors).toEqual([]);
    }
  });

  test("shards: without nodes they belong to this machine", async () => {
    await using server = await openConsoleServer();
    await using visitor = await browser().visit(`${server.consoleUrl}/shards`);
    const { page, errors } = visitor;
    await live(page);
    const rows = page.getByRole("table", { name: "Shards" }).locator("tbody tr");
    expect(await rows.count()).toBe(1);
    expect(await rows.first().textContent()).toContain("up");
    await page.getByText("This server is alone").waitFor();
    await page.getByText("No backup yet").waitFor();
    expect(errors).toEqual([]);
  });

  test("shards: each has the counts of its queues and ready items, and a queue names its shard", async () => {
    await using server = await openConsoleServer({ shards: 3 });
    const [orders, invoices, other] = ["{shop}.orders", "{shop}.invoices", "orders"] as const;
    await addQueues(server, [orders, invoices, other]);
    await server.client.queue(orders).produce(["one", "two"]);
    const places = await shardsOfQueues(server);
    const shop = places.get(orders);
    expect(places.get(invoices)).toBe(shop);
    await using visitor = await browser().visit(`${server.consoleUrl}/shards`);
    const { page, errors } = visitor;
    await live(page);
    const loads = [];
    for (const row of await page.locator(".shard-table tbody tr").all()) {
      const cells = row.locator("[data-l=Shard], [data-l=Queues], [data-l=Ready]");
      loads.push(await cells.allTextContents());
    }
    const expected = [0, 1, 2].map((shard) => {
      const isOfOther = places.get(other) === shard;
      if (shard === shop) return [shard, isOfOther ? 3 : 2, 2].map(String);
      return [shard, isOfOther ? 1 : 0, 0].map(String);
    });
    expect(loads.sort()).toEqual(expected);
    await page.goto(`${server.consoleUrl}/queue?name=${encodeURIComponent(orders)}`);
    await page.getByText(`1, in shard ${shop}`).waitFor();
    expect(errors).toEqual([]);
  });

  test("shards and keys: at each width every labelled figure is in the window, and nothing scrolls sideways", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addQueues(server, ["orders"]);
    await using visitor = await browser().visit(`${server.consoleUrl}/shards`);
    const { page, errors } = visitor;
    await page.route("**/v1/server.keys", (route) => {
      const rights = [{ roles: ["produce", "consume"], queues: ["orders*", "emails", "bills"] }];
      const used = { last_used_at: new Date().toISOString(), denied_calls: 12_345 };
      return route.fulfill({
        json: { items: [{ digest: "8f434346", name: "workers-of-the-shop", rights, ...used }] },
      });
    });
    await page.getByLabel("API key").fill(adminKey);
    await page.keyboard.press("Enter");
    await live(page);
    for (const [path, table, first] of [
      ["/shards", "Shards", "Commits /s"],
      ["/keys", "Keys", "May"],
    ] as const) {
      await page.goto(server.consoleUrl + path);
      const rows = page.getByRole("table", { name: table, exact: true }).locator("tbody tr");
      await rows.first().waitFor();
      await settled(page);
      for (const width of [1_100, 768, 390, 320]) {
        await page.setViewportSize({ width, height: 844 });
        expect([width, await page.evaluate(whatScrollsSideways)]).toEqual([width, []]);
        const cells = await rows.first().locator(":scope > *").evaluateAll(cellsOf);
        expect([width, cells.filter(({ isCut }) => isCut)]).toEqual([width, []]);
        const names = cells.map(({ name }) => name).join();
        const isList = width < 1_000;
        expect([width, names.includes(first)]).toEqual([width, isList]);
        expect([width, await page.locator(".fields thead").isVisible()]).toEqual([width, !isList]);
      }
      expect(await lookFaults(page)).toEqual([]);
    }
    expect(errors).toEqual([]);
  });

  test("nodes: each lists its shards, each shard its owner and epoch, and unowned shards are named", async () => {
    await using server = await openConsoleServer({ shards: 3 });
    await using visitor = await browser().visit("about:blank");
    const { page, errors } = visitor;
    const now = new Date().toISOString();
    const taken_at = new Date(Date.now() - 150 * 60_000).toISOString();
    const node = { version: "1.0.0", started_at: now, seen_at: now, draining: false, live: true };
    const [first, second, third] = [1, 2, 3].map((number) => `http://queue-${number}:9090`);
    await page.route("**/v1/nodes.list", (route) =>
      route.fulfill({
        json: {
          items: [
            { ...node, url: first, shards: [0, 2] },
            { ...node, url: second, shards: [] },
            { ...node, url: third, shards: [], live: false },
          ],
          shards: [
            { shard: 0, node: first, epoch: 1, taken_at },
            { shard: 1, node: "", epoch: 12, taken_at: null },
            { shard: 2, node: first, epoch: 4, taken_at },
          ],
        },
      }),
    );
    await page.route("**/v1/server.overview", async (route) => {
      const response = await route.fetch();
      const overview: ServerOverviewReply = await response.json();
      const reached = overview.shards.filter(({ shard }) => shard !== 1);
      const shards = reached.map((one) => ({ ...one, items_per_second: 40 * one.shard }));
      await route.fulfill({ response, json: { ...overview, shards, unreached: [1] } });
    });
    await page.goto(`${server.consoleUrl}/shards`);
    await live(page);
    for (const viewport of [wide, narrow]) {
      await page.setViewportSize(viewport);
      await page.getByText("Shard 1 has no live owner: its calls wait for one.").waitFor();
      const nodes = page.locator(".node");
      expect(await nodes.count()).toBe(3);
      expect(await nodes.nth(0).locator(".shard").allTextContents()).toEqual(["0", "2"]);
      expect(await nodes.nth(1).textContent()).toContain("owns no shard");
      expect(await nodes.nth(2).textContent()).toContain("no sign of life");
      await page.getByText("Shard 1 could not be reached").waitFor();
      const owners = page.getByRole("table", { name: "owners" }).locator("tbody tr");
      expect(await owners.allTextContents()).toEqual([
        ...["0queue-1:909012.5 h0", "1none12never–", "2queue-1:909042.5 h80"],
      ]);
    }
    expect([...(await lookFaults(page)), ...errors]).toEqual([]);
  });

  test("keys: without any the page explains how to make one", async () => {
    await using server = await openConsoleServer();
    await using visitor = await browser().visit(`${server.consoleUrl}/keys`);
    const { page } = visitor;
    await page.getByText("This server requires no API key.").waitFor();
    expect(await page.locator(".code pre").textContent()).toContain("--role consume");
    await page.getByText("Nothing yet. Creating").waitFor();
  });

  test("keys: own rights and filtered actions, by the address", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addQueues(server, ["orders", "emails"]);
    await server.client.queue("orders").pause();
    await refusedDelete(server);
    const address = `${server.consoleUrl}/keys?queue=orders&did=pause`;
    await using visitor = await browser().visit(address);
    const { page, errors } = visitor;
    await page.getByLabel("API key").fill(adminKey);
    await page.keyboard.press("Enter");
    await live(page);
    for (const viewport of [wide, narrow]) {
      await page.setViewportSize(viewport);
      await page.goto(address);
      await page.getByText("You are ops").waitFor();
      const actions = page.getByRole("table", { name: "Actions" }).locator("tbody tr");
      await actions.first().waitFor();
      expect(await actions.count()).toBe(1);
      expect(await actions.first().textContent()).toContain("paused");
      await page.getByRole("button", { name: "Show all" }).click();
      await page.waitForURL((url) => url.search === "");
      await page.getByText("only refused").click();
      await page.waitForURL((url) => url.searchParams.get("refused") === "1");
      await page.getByText("deleteQueue refused").waitFor();
    }
    expect([...(await lookFaults(page)), ...errors]).toEqual([]);
  });

  test("keys: each has its roles, queues, last use and denied calls", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    const rights = [
      { roles: ["consume"], queues: ["orders*", "emails"] },
      { roles: ["produce"], queues: ["bills"] },
    ];
    const key = { rights, denied_calls: 31 };
    await using visitor = await browser().visit(`${server.consoleUrl}/keys`);
    const { page, errors } = visitor;
    await page.route("**/v1/server.keys", (route) =>
      route.fulfill({
        json: {
          items: [
            { ...key, digest: "8f434346", name: "workers", last_used_at: null },
            {
              ...{ digest: "77d3e0f2", name: "ops" },
              rights: [{ roles: ["admin"], queues: ["*"] }],
              ...{ last_used_at: new Date().toISOString(), denied_calls: 0 },
            },
          ],
        },
      }),
    );
    await page.getByLabel("API key").fill(adminKey);
    await page.keyboard.press("Enter");
    const rows = page.getByRole("table", { name: "Keys" }).locator("tbody tr:not(.ghost)");
    await rows.first().waitFor();
    expect(await rows.nth(0).textContent()).toBe(
      "workersconsume; produceorders* emails; bills8f434346…not since the start31",
    );
    expect(await rows.nth(1).textContent()).toContain("you");
    expect(await lookFaults(page)).toEqual([]);
    await rows.nth(0).getByRole("link").click();
    await page.waitForURL((url) => url.searchParams.get("key") === "workers");
    expect(errors).toEqual([]);
  });

  test("test clock: uptime and the use of keys are by the clock of the machine", async () => {
    await using server = await openConsoleServer({ hasKeys: true, testClock: true });
    await addQueues(server, ["orders"]);
    await server.client.advance({ by: "3h" });
    await using visitor = await browser().visit(`${server.consoleUrl}/keys`);
    const { page, errors } = visitor;
    const now = () => new Date().toISOString();
    const machine = (reply: Record<string, object>) => ({
      ...reply,
      machine: { ...reply["machine"], started_at: now() },
    });
    await page.route("**/v1/server.overview", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: machine(await response.json()) });
    });
    const key = { digest: "77d3e0f2", name: "ops", rights: [{ roles: ["admin"], queues: ["*"] }] };
    await page.route("**/v1/server.keys", (route) =>
      route.fulfill({ json: { items: [{ ...key, last_used_at: now(), denied_calls: 0 }] } }),
    );
    await page.getByLabel("API key").fill(adminKey);
    await page.keyboard.press("Enter");
    const row = page.getByRole("table", { name: "Keys" }).locator("tbody tr:not(.ghost)");
    await row.getByText(/^(?:now|\d+ s ago)$/).waitFor();
    await page.getByRole("link", { name: "Shards" }).click();
    await page
      .locator(".node")
      .getByText(/up \d+ m?s$/)
      .waitFor();
    expect(errors).toEqual([]);
  });

  test.each([
    [readKey, "Only a key with the role admin sees the others."],
    [produceKey, "Only keys with the role read see the actions."],
  ])("keys: %s is told what it cannot see, and requests none of it", async (key, said) => {
    await using server = await openConsoleServer({ hasKeys: true });
    await using visitor = await browser().visit(`${server.consoleUrl}/keys`);
    const { page, calls } = visitor;
    await page.getByLabel("API key").fill(key);
    await page.keyboard.press("Enter");
    await page.getByText(said).waitFor();
    expect(calls.filter((path) => path.endsWith("server.keys"))).toEqual([]);
  });
}

/** Once the overview, which is made once a second, has two ready items. */
async function shardsOfQueues({ client }: ConsoleServer): Promise<ReadonlyMap<string, number>> {
  for (;;) {
    const { queues, totals } = await client.overview();
    const { queue_name: names, shard } = queues;
    if (totals.ready === 2) return new Map(names.map((name, at) => [name, shard[at] ?? -1]));
    await Bun.sleep(100);
  }
}

async function refusedDelete(server: ConsoleServer): Promise<void> {
  await server.client.queue("orders").produce("one");
  await server.client
    .queue("orders")
    .delete()
    .catch(() => undefined);
}

/** Boxes of which a part is seen only by scrolling to the side. */
function whatScrollsSideways(): string[] {
  return [...document.querySelectorAll("body *")]
    .filter((element) => {
      const isLong = element.scrollWidth > element.clientWidth + 1;
      return isLong && /auto|scroll/.test(getComputedStyle(element).overflowX);
    })
    .map(({ outerHTML }) => outerHTML.slice(0, 100));
}

/** Of each cell that is shown its name, as it is drawn beside it, and whether all of it is seen. */
function cellsOf(cells: readonly Element[]): { name: string; isCut: boolean }[] {
  return cells
    .map((cell) => ({ cell, box: cell.getBoundingClientRect() }))
    .filter(({ box }) => box.width > 0)
    .map(({ cell, box }) => ({
      name: getComputedStyle(cell, "::before").content,
      isCut: cell.scrollWidth > cell.clientWidth + 1 || box.right > innerWidth || box.left < 0,
    }));
}

function testLosses(browser: () => ConsoleBrowser): void {
  test("lost commits: the alarm leads to a confirmation of the count that was read", async () => {
    let lost = 2;
    await using server = await openConsoleServer({ lostCommits: new LostCommits(() => lost) });
    await using visitor = await browser().visit(server.consoleUrl);
    const { page, errors } = visitor;
    await page.getByRole("region", { name: "Alarms" }).getByText("2 commits that had").waitFor();
    await page.getByRole("link", { name: "Why: this server" }).click();
    await page.getByRole("button", { name: "Confirm…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The call that this makes").click();
    expect(await dialog.locator(".code pre").textContent()).toContain(`{"expect":2}`);
    expect(await axeFaults(page)).toEqual([]);
    lost = 3;
    await page.getByRole("heading", { name: "3 commits that had" }).waitFor();
    await dialog.getByRole("button", { name: "Confirm the loss of 2 commits" }).click();
    await dialog.getByRole("alert").getByText("3 lost commits would be confirmed").waitFor();
    await dialog.getByRole("button", { name: "Confirm the loss of 3 commits" }).click();
    await page.locator(".foot .said").getByText("confirmed the loss of 3 commits").waitFor();
    await page.locator(".loss").waitFor({ state: "detached" });
    const { items } = await server.client.listActions({ limit: 2 });
    expect(items.map(({ operation, code }) => [operation, code])).toEqual([
      ["confirmLoss", 200],
      ["confirmLoss", 453],
    ]);
    expect(errors).toEqual([]);
  });

  test("lost commits: a key without the right is told which key has it, at both widths in both modes", async () => {
    const lostCommits = new LostCommits(() => 1);
    await using server = await openConsoleServer({ hasKeys: true, lostCommits });
    for (const key of [adminKey, readKey]) {
      await using visitor = await browser().visit(`${server.consoleUrl}/shards`);
      const { page, errors } = visitor;
      await page.getByLabel("API key").fill(key);
      await page.keyboard.press("Enter");
      await live(page);
      const confirm = page.getByRole("button", { name: "Confirm…" });
      const told = page.getByText("Only a key with the role admin");
      await (key === adminKey ? confirm : told).waitFor();
      expect([await confirm.count(), await told.count()]).toEqual(
        key === adminKey ? [1, 0] : [0, 1],
      );
      expect([...(await lookFaults(page)), ...errors]).toEqual([]);
    }
    const response = await fetch(`${server.url}/v1/losses.confirm`, {
      method: "POST",
      headers: { authorization: `Bearer ${readKey}`, "content-type": "application/json" },
      body: "{}",
    });
    expect(response.status).toBe(403);
    expect(lostCommits.unconfirmed).toBe(1);
  });
}

/** Much longer than the console takes a call that is not answered yet for none. */
const lease = "12s";

/** How many shards each of the nodes owns, in their order. */
async function sharesOf(nodes: readonly NodeProcess[]): Promise<number[]> {
  const [first] = nodes as [NodeProcess];
  const { shards } = await createClient({ url: first.url }).listNodes({});
  return nodes.map(({ nodeUrl }) => shards.filter(({ node }) => node === nodeUrl).length);
}

function testNodes(browser: () => ConsoleBrowser): void {
  describe("nodes", () => {
    const cluster = new Cluster();
    let owner: NodeProcess;
    let other: NodeProcess;
    beforeAll(async () => {
      await ensureBuilt();
      await cluster.startDatabase();
      other = await cluster.start({ lease });
      owner = await cluster.start({ lease });
      while ((await sharesOf([other, owner])).includes(0)) await Bun.sleep(100);
      await queueOf(owner).create(settings);
      await queueOf(owner).produce(["a", "b"]);
    });
    afterAll(() => cluster.end());

    test("nodes: after a kill the figures are grey until the shard is taken over", async () => {
      await using visitor = await browser().visit(`${other.url}/console/shards`);
      const { page, errors } = visitor;
      await live(page);
      const nodes = page.locator(".node");
      for (const at of [0, 1]) await nodes.nth(at).locator(".shard").first().waitFor();
      // The takeover may be over before the test has looked: no new figures arrive until it has.
      const lost = Promise.withResolvers<void>();
      await owner.stop("SIGKILL");
      await page.route("**/v1/server.overview", async (route) => {
        const response = await route.fetch().catch(() => null);
        if (response?.ok()) await lost.promise;
        return response === null ? route.abort() : route.fulfill({ response });
      });
      await page.locator(".console[data-state=disconnected]").waitFor();
      // With new figures it is missing until the takeover.
      expect(await page.getByRole("row", { name: /^0 up/ }).count()).toBe(1);
      lost.resolve();
      await live(page);
      await page.getByText("no sign of life").waitFor();
      const mine = nodes.filter({ hasText: new URL(other.url).host });
      await page.getByText("no live owner").waitFor({ state: "detached" });
      const [count = 0] = await sharesOf([other]);
      await mine
        .locator(".shard")
        .nth(count - 1)
        .waitFor();
      expect(await mine.locator(".shard").count()).toBe(count);
      expect(errors).toEqual([]);
    });

    test("nodes: after a kill of its server the page keeps its figures and recovers", async () => {
      const { port } = other;
      await using visitor = await browser().visit(`${other.url}/console`);
      const { page, errors } = visitor;
      await live(page);
      await other.stop("SIGKILL");
      await page.locator(".console[data-state=disconnected]").waitFor();
      expect(await page.getByRole("row", { name: /^orders/ }).textContent()).toContain("2");
      await cluster.start({ port, lease });
      await live(page);
      expect(await page.getByRole("row", { name: /^orders/ }).textContent()).toContain("2");
      expect(errors).toEqual([]);
    });
  });
}

inChromium([testShardsAndKeys, testLosses, testNodes]);
