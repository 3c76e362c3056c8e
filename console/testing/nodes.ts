// The console before real nodes, of which one is killed.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ensureBuilt } from "../../app/build/ensure-built.ts";
import { Cluster, type NodeProcess, queueOf, settings } from "../../bench/cluster.ts";
import { createClient } from "../../client/client.ts";
import { type ConsoleBrowser, live } from "./console-browser.ts";

/** Much longer than the console takes a call that is not answered yet for none. */
const lease = "12s";

/** How many shards each of the nodes owns, in their order. */
async function sharesOf(nodes: readonly NodeProcess[]): Promise<number[]> {
  const [first] = nodes as [NodeProcess];
  const { shards } = await createClient({ url: first.url }).listNodes({});
  return nodes.map(({ nodeUrl }) => shards.filter(({ node }) => node === nodeUrl).length);
}

export function testNodes(browser: () => ConsoleBrowser): void {
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

    test("a node is killed: the figures lose their colour, and return once its shard is taken over", async () => {
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

    test("the server of the page is killed: its figures stay, and it is back by itself", async () => {
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
