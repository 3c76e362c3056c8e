import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { axeFaults } from "../testing/axe.ts";
import {
  type ConsoleBrowser,
  isWiderThanWindow,
  live,
  narrow,
} from "../testing/console-browser.ts";
import {
  addQueues,
  adminKey,
  type ConsoleServer,
  openConsoleServer,
  readKey,
} from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { addGroups, longGroup } from "../testing/item-traffic.ts";

const at = (server: ConsoleServer, query = "") =>
  `${server.consoleUrl}/groups?name=tenants${query}`;
const rowOf = (page: Page, group: string) =>
  page
    .getByRole("table", { name: "Groups" })
    .getByRole("row")
    .filter({ has: page.getByRole("rowheader", { name: group, exact: true }) });
const headings = (page: Page) => page.locator(".groups tbody th").allTextContents();

async function saidOn(page: Page, text: string): Promise<void> {
  await page.getByRole("status").filter({ hasText: text }).waitFor();
  await page.locator("dialog").waitFor({ state: "detached" });
}

function testList(browser: () => ConsoleBrowser): void {
  describe("the groups of a queue", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer();
      await addQueues(server, ["plain"]);
      await addGroups(server, 250);
    });
    afterAll(() => server.stop());

    test("each says in words what blocks it, and leads to its items and to the one that blocks it", async () => {
      await using visitor = await browser().visit(`${server.consoleUrl}/queue?name=tenants`);
      const { page, errors } = visitor;
      await page.getByText("2 groups with ready items are paused or closed").waitFor();
      await page.getByRole("link", { name: "Groups", exact: true }).click();
      await rowOf(page, "a").getByText("closed by the dead letter").waitFor();
      await rowOf(page, "b").getByText("its limit of 1 is reached by item").waitFor();
      await rowOf(page, "c").getByText("paused", { exact: true }).waitFor();
      await rowOf(page, "no name").getByText("open", { exact: true }).waitFor();
      await rowOf(page, longGroup).waitFor();
      expect(await isWiderThanWindow(page)).toBe(false);
      await rowOf(page, "b").getByRole("link", { name: /^…/ }).click();
      const panel = page.getByLabel(/^Item …/);
      await panel.getByText("worker-3").first().waitFor();
      await panel.getByRole("link", { name: "b", exact: true }).click();
      await page.getByText("100 groups, more follow").waitFor();
      expect((await headings(page))[0]).toBe("b");
      await rowOf(page, "b").getByRole("link", { name: "b", exact: true }).click();
      await page.getByText("1 match").waitFor();
      await page.getByRole("cell", { name: "b", exact: true }).waitFor();
      expect(errors).toEqual([]);
    });

    test("pages by name: the next, the first, and the one that is typed", async () => {
      await using visitor = await browser().visit(at(server));
      const { page } = visitor;
      await page.getByRole("link", { name: "Next 100" }).click();
      await rowOf(page, "t-00096").waitFor();
      const field = page.getByLabel("Go to a group");
      expect(await field.inputValue()).toBe((await headings(page))[0] ?? "");
      await page.getByRole("link", { name: "First groups" }).click();
      await rowOf(page, "a").waitFor();
      expect(await field.inputValue()).toBe("");
      await page.keyboard.press("/");
      await page.keyboard.type("t-0024");
      await page.getByText("10 groups", { exact: true }).waitFor();
      expect((await headings(page))[0]).toBe("t-00240");
      expect(new URL(page.url()).searchParams.get("from")).toBe("t-0024");
      await field.fill("u");
      await page.getByText("No group has this name or a later one.").waitFor();
      await page.goBack();
    });

    test("dead items are summarized by group, and lead to the dead items of one", async () => {
      await using visitor = await browser().visit(`${server.consoleUrl}/dead?name=tenants-dead`);
      const { page } = visitor;
      await page.getByRole("button", { name: "group", exact: true }).click();
      await page.getByText("1 group, 1 item, all scanned").waitFor();
      await page.getByRole("rowheader", { name: "a", exact: true }).getByRole("link").click();
      await page.getByText("1 match").waitFor();
      expect(new URL(page.url()).searchParams.get("group")).toBe("a");
    });

    test("blocked only: what is open is left out", async () => {
      await using visitor = await browser().visit(at(server), { viewport: narrow });
      const { page } = visitor;
      await page.getByRole("button", { name: "Blocked only" }).click();
      await page.getByText("3 groups", { exact: true }).waitFor();
      expect(await headings(page)).toEqual(["a", "b", "c"]);
      expect(await isWiderThanWindow(page)).toBe(false);
      expect(await axeFaults(page)).toEqual([]);
    });

    test("a call without an answer leaves the groups; a queue that does not exist has none", async () => {
      await using visitor = await browser().visit(at(server));
      const { page } = visitor;
      await rowOf(page, "a").waitFor();
      await page.route("**/v1/queues.info", (route) => route.abort());
      await page.waitForEvent("requestfailed");
      await page.waitForResponse("**/v1/groups.list");
      expect(await rowOf(page, "a").count()).toBe(1);
      await page.unrouteAll();
      await page.goto(`${server.consoleUrl}/groups?name=unknown`);
      await page.getByRole("alert").filter({ hasText: "The groups are not shown." }).waitFor();
      expect(await page.getByRole("table").count()).toBe(0);
    });

    test("a queue without groups says so, and has no tab of them", async () => {
      await using visitor = await browser().visit(`${server.consoleUrl}/groups?name=plain`);
      await visitor.page.getByText("This queue has no groups").waitFor();
      await visitor.page.goto(`${server.consoleUrl}/queue?name=plain`);
      await visitor.page.locator("[data-known=true]").waitFor();
      expect(await visitor.page.getByRole("link", { name: "Groups" }).count()).toBe(0);
    });
  });
}

function testChanges(browser: () => ConsoleBrowser): void {
  describe("what may be done to a group", () => {
    let server: ConsoleServer;
    const groupNow = async (group: string) => {
      const page = { queue_name: "tenants", pivot: group, limit: 1 };
      return (await server.client.listGroups(page)).items[0];
    };
    beforeAll(async () => {
      server = await openConsoleServer();
      await addGroups(server);
    });
    afterAll(() => server.stop());

    test("set: only edited settings are sent, and a refusal is beside the button", async () => {
      await using visitor = await browser().visit(at(server), { viewport: narrow });
      const { page, errors } = visitor;
      await rowOf(page, "c").getByRole("button", { name: "Set…" }).click();
      expect(await axeFaults(page)).toEqual([]);
      await page.getByLabel("Weight").fill("101");
      await page.getByRole("button", { name: "Change 1 setting" }).click();
      await page.getByRole("alert").filter({ hasText: "400" }).waitFor();
      await page.getByLabel("Weight").fill("3");
      await page.getByLabel("Rate").fill("10/1s");
      await page.getByRole("checkbox", { name: /paused/ }).uncheck();
      const asked = page.waitForRequest("**/v1/groups.set");
      await page.getByRole("button", { name: "Change 3 settings" }).click();
      expect((await asked).postDataJSON()).toEqual({
        ...{ queue_name: "tenants", group: "c" },
        ...{ rate: "10/1s", weight: 3, paused: false },
      });
      await saidOn(page, "set c: rate 10/1s, weight 3, resumed");
      await rowOf(page, "c").getByText("open", { exact: true }).waitFor();
      expect(await groupNow("c")).toMatchObject({ rate: "10/1s", weight: 3, paused: false });
      expect(errors).toEqual([]);
    });

    test("set: also a group that has no items yet", async () => {
      await using visitor = await browser().visit(at(server, "&from=zoo"));
      const { page } = visitor;
      await page.getByRole("button", { name: "Set zoo, which has no items…" }).click();
      await page.getByLabel("Leased at most").fill("2");
      await page.getByRole("button", { name: "Change 1 setting" }).click();
      await saidOn(page, "set zoo: leased_max 2");
      await rowOf(page, "zoo").getByText("at most 2").waitFor();
    });

    test("unblock: it says what it does, and the group is open", async () => {
      await using visitor = await browser().visit(at(server));
      const { page } = visitor;
      await rowOf(page, "a").getByRole("button", { name: "Unblock…" }).click();
      await page.getByText("1 item that waits in it is leased from now on").waitFor();
      expect(await axeFaults(page)).toEqual([]);
      await page.getByRole("button", { name: "Unblock the group" }).click();
      await saidOn(page, "unblocked a");
      await rowOf(page, "a").getByText("open", { exact: true }).waitFor();
      expect(await groupNow("a")).toMatchObject({ blocked_by: "", waiting: 1 });
    });

    test("refresh: under the pointer no row comes, goes or moves, and figures are new", async () => {
      await using visitor = await browser().visit(at(server));
      const { page } = visitor;
      await rowOf(page, "c").hover();
      const before = await headings(page);
      const top = (await rowOf(page, "c").boundingBox())?.y;
      await server.client.queue("tenants").produce([
        { utf8: "{}", group: "aa" },
        { utf8: "{}", group: "c" },
      ]);
      await rowOf(page, "c").getByRole("cell", { name: "2", exact: true }).waitFor();
      expect(await headings(page)).toEqual(before);
      expect((await rowOf(page, "c").boundingBox())?.y).toBe(top);
    });
  });
}

function testRights(browser: () => ConsoleBrowser): void {
  test("groups: a read-only key changes none, and the server refuses it", async () => {
    const server = await openConsoleServer({ hasKeys: true });
    try {
      await addGroups(server);
      await using visitor = await browser().visit(at(server));
      const { page } = visitor;
      await page.getByLabel("API key").fill(readKey);
      await page.keyboard.press("Enter");
      await live(page);
      await rowOf(page, "a").getByText("closed by the dead letter").waitFor();
      expect(await page.getByRole("button", { name: /…$/ }).count()).toBe(0);
      const response = await fetch(`${server.url}/v1/groups.set`, {
        method: "POST",
        headers: { authorization: `Bearer ${readKey}`, "content-type": "application/json" },
        body: JSON.stringify({ queue_name: "tenants", group: "a", unblock: true }),
      });
      expect(response.status).toBe(403);
      await page.getByRole("button", { name: /^key eyes/ }).click();
      await page.getByLabel("API key").fill(adminKey);
      await page.keyboard.press("Enter");
      await rowOf(page, "a").getByRole("button", { name: "Unblock…" }).waitFor();
    } finally {
      await server.stop();
    }
  });
}

function testSettings(browser: () => ConsoleBrowser): void {
  test("settings of groups: chosen when a queue is created, edited later", async () => {
    await using server = await openConsoleServer();
    await addQueues(server, ["plain"]);
    await using visitor = await browser().visit(server.consoleUrl);
    const { page } = visitor;
    await live(page);
    await page.getByRole("button", { name: "Create queue" }).click();
    await page.getByLabel("Name", { exact: true }).fill("tenants");
    await page.getByLabel("Priority aging").fill("never");
    expect(await page.getByLabel("Leased per group").count()).toBe(0);
    await page.getByRole("checkbox", { name: /groups take turns/ }).check();
    await page.getByLabel("Leased per group").fill("1");
    await page.getByLabel("Order in a group").selectOption("strict");
    expect(await axeFaults(page)).toEqual([]);
    // The polls find the first queue before the second is there.
    await page.route("**/v1/queues.create", async (route) => {
      if (route.request().postDataJSON().queue_name === "tenants") {
        for (let polls = 0; polls < 2; polls += 1)
          await page.waitForResponse("**/v1/server.overview");
      }
      await route.continue();
    });
    await page.getByRole("button", { name: "Create tenants" }).click();
    await saidOn(page, "created tenants and tenants-dead");
    const queue = server.client.queue("tenants");
    expect(await queue.info()).toMatchObject({
      ...{ grouped: true, group_leased_max: 1, group_order: "strict", priority_aging: "never" },
    });
    await page.goto(`${server.consoleUrl}/queue?name=tenants`);
    await page.getByText("strict", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Edit…" }).click();
    expect(await page.getByLabel("Partitions").count()).toBe(0);
    await page.getByLabel("Rate per group").fill("10/1s");
    await page.getByLabel("After a dead letter").selectOption("block");
    await page.getByRole("button", { name: "Change 2 settings" }).click();
    await saidOn(page, "updated tenants");
    expect(await queue.info()).toMatchObject({ group_rate: "10/1s", group_on_dead: "block" });
    await page.getByRole("button", { name: "Produce…" }).click();
    await page.getByLabel("Group").fill("customer-17");
    await page.getByRole("button", { name: "Produce 1 item" }).click();
    await saidOn(page, "produced 1 item to tenants");
    expect(await Array.fromAsync(queue.find())).toMatchObject([{ group: "customer-17" }]);
  });
}

inChromium([testList, testChanges, testRights, testSettings]);
