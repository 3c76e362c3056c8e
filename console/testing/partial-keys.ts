// Keys that may do a part of all, or that are taken away: what is drawn and asked for them.

import { describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import {
  type ConsoleBrowser,
  calledOut,
  live,
  pauseTime,
  type Visitor,
} from "./console-browser.ts";
import { addQueues, adminKey, type ConsoleServer, openConsoleServer } from "./console-server.ts";
import { addManyDead, addSlowRedrive, addTraffic } from "./item-traffic.ts";

export function testPartialKeys(browser: () => ConsoleBrowser): void {
  describe("a key for a part", () => {
    testSomeQueues(browser);
    testSomeRoles(browser);
  });
  testWrongKeys(browser);
  testTaskWithoutKey(browser);
}

async function enter(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.keyboard.press("Enter");
}

async function visitAs(browser: ConsoleBrowser, server: ConsoleServer, path: string) {
  const visitor: Visitor = await browser.visit(server.consoleUrl + path);
  await enter(visitor.page, adminKey);
  await live(visitor.page);
  return visitor;
}

function testSomeQueues(browser: () => ConsoleBrowser): void {
  test("an administrator of orders*: a redrive says where to, and nothing is drawn that is refused", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addTraffic(server);
    await addSlowRedrive(server);
    server.restrict(adminKey, { roles: ["admin"], queues: ["orders*"] });
    await using visitor = await browser().visit(server.consoleUrl);
    const { page, errors } = visitor;
    const refused: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 403)
        refused.push(`${response.url()} ${response.request().postData()}`);
    });
    await enter(page, adminKey);
    await live(page);
    await page.getByText("the past is for keys of all queues").waitFor();
    await page.goto(`${server.consoleUrl}/dead?name=orders-dead`);
    const tasks = page.getByRole("region", { name: "Tasks" });
    await tasks.getByText("redrive").first().waitFor();
    await page.locator(".groups tbody .c-x input").first().check();
    // It administers both queues of the task.
    expect(await tasks.getByRole("button").count()).toBe(1);
    const plan = page.getByRole("form", { name: "Redrive" });
    await plan.getByRole("combobox").selectOption("orders");
    await plan.getByRole("button", { name: /^Redrive \d+ items?$/ }).waitFor();
    await page.goto(`${server.consoleUrl}/queue?name=orders`);
    await page.getByText("redrive runs").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("redrive runs").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Redrive…" }).click();
    await page.getByRole("button", { name: /^Redrive \d+ items?$/ }).waitFor();
    expect(refused).toEqual([]);
    expect(errors).toEqual([]);
  });

  test("one that sees no queue is told which it is for, and is offered no call that is refused", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addQueues(server, ["orders"]);
    server.restrict(adminKey, { roles: ["admin"], queues: ["mail*"] });
    await using visitor = await visitAs(browser(), server, "");
    const { page } = visitor;
    await page.getByRole("heading", { name: "No queue is for this key" }).waitFor();
    await page.getByText("mail*", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: /^Run/ }).count()).toBe(0);
  });
}

function testSomeRoles(browser: () => ConsoleBrowser): void {
  test("one that reads and consumes is not told that it changes nothing", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addQueues(server, ["orders"]);
    server.restrict(adminKey, { roles: ["read", "consume"], queues: ["*"] });
    await using visitor = await visitAs(browser(), server, "");
    const { page } = visitor;
    await page.getByText("key ops: read, consume").waitFor();
    expect(await page.getByText("change nothing").count()).toBe(0);
  });
}

const wrongMax = 30;

function testWrongKeys(browser: () => ConsoleBrowser): void {
  test("after too many wrong keys the right one is not held back by what they were told", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addQueues(server, ["orders"]);
    const headers = { authorization: "Bearer wrong", "content-type": "application/json" };
    let code = 0;
    for (let at = 0; at < wrongMax && code !== 429; at += 1) {
      const answer = await fetch(`${server.url}/v1/server.whoami`, {
        ...{ method: "POST", headers, body: "{}" },
      });
      code = answer.status;
    }
    expect(code).toBe(429);
    await using visitor = await browser().visit(server.consoleUrl, { hasClock: true });
    const { page } = visitor;
    await enter(page, "wrong");
    await page.getByRole("alert").filter({ hasText: "429" }).waitFor();
    // What is held back waits for ever.
    await pauseTime(page);
    const asked = page.waitForResponse("**/v1/server.overview");
    await enter(page, adminKey);
    expect((await asked).status()).toBe(200);
    await live(page);
  });
}

function testTaskWithoutKey(browser: () => ConsoleBrowser): void {
  test("put away while a task runs: nothing asks after it without the key, so it does not come back", async () => {
    await using server = await openConsoleServer({ hasKeys: true });
    await addTraffic(server);
    await addManyDead(server);
    const url = `${server.consoleUrl}/dead?name=orders-dead`;
    await using visitor = await browser().visit(url, { hasClock: true });
    const { page, calls } = visitor;
    await enter(page, adminKey);
    await live(page);
    await page.locator(".groups tbody .c-x input").first().check();
    const plan = page.getByRole("form", { name: "Redrive" });
    await plan.getByRole("combobox").selectOption("orders");
    await plan.getByLabel("At most").fill("1");
    const looked = page.waitForResponse("**/v1/tasks.info");
    await plan.getByRole("button", { name: "Redrive 995 items" }).click();
    await looked;
    server.rotate(adminKey, "holdfast_next");
    const asking = page.getByRole("dialog", { name: "The key is no longer accepted" });
    await asking.waitFor();
    await page.keyboard.press("Escape");
    await asking.waitFor({ state: "detached" });
    await calledOut(page);
    const asked = calls.length;
    await page.clock.runFor(10_000);
    await calledOut(page);
    expect(calls.slice(asked)).toEqual([]);
    expect(await asking.count()).toBe(0);
  });
}
