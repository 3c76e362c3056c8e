// The console before real nodes, of which one is killed.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ensureBuilt } from "../../app/build/ensure-built.ts";
import { Cluster, type NodeProcess, queueOf, settings } from "../../bench/cluster.ts";
import { type ConsoleBrowser, live } from "./console-browser.ts";

/** Much longer than the console takes a call that is not answered yet for none. */
const lease = "12s";

export function testNodes(browser: () => ConsoleBrowser): void {
  describe("nodes", () => {
    const cluster = new Cluster();
    let owner: NodeProcess;
    let other: NodeProcess;
    beforeAll(async () => {
      await ensureBuilt();
      await cluster.startDatabase();
      await Promise.all([cluster.start({ lease }), cluster.start({ lease })]);
      owner = await cluster.owner();
      other = cluster.nodes.find((node) => node !== owner) as NodeProcess;
      await queueOf(owner).create(settings);
      await queueOf(owner).produce(["a", "b"]);
    });
    afterAll(() => cluster.end());

    test("the owner is killed: the figures lose their colour, and come back from who took over", async () => {
      await using visitor = await browser().visit(`${other.url}/console/shards`);
      const { page, errors } = visitor;
      await live(page);
      await page.getByText("taken over 1 time").waitFor();
      const nodes = page.locator(".node");
      await nodes.nth(1).waitFor();
      // It may be over before anybody has looked: no figures come of who took over until it was seen.
      const lost = Promise.withResolvers<void>();
      await owner.stop("SIGKILL");
      await page.route("**/v1/server.overview", async (route) => {
        const response = await route.fetch().catch(() => null);
        if (response?.ok()) await lost.promise;
        return response === null ? route.abort() : route.fulfill({ response });
      });
      await page.locator(".console[data-state=disconnected]").waitFor();
      lost.resolve();
      expect(await page.getByRole("row", { name: /^0 up/ }).count()).toBe(1);
      await live(page);
      await page.getByText("taken over 2 times").waitFor();
      await page.getByText("no sign of life").waitFor();
      const mine = nodes.filter({ hasText: new URL(other.url).host });
      await mine.locator(".shard").nth(1).waitFor();
      expect(await mine.locator(".shard").count()).toBe(2);
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
