// Commits that a database has lost: told where an operator looks, and confirmed there.

import { expect, test } from "bun:test";
import { LostCommits } from "../../server/observability/lost-commits.ts";
import { axeFaults } from "./axe.ts";
import { type ConsoleBrowser, isWiderThanWindow, live, narrow, wide } from "./console-browser.ts";
import { adminKey, openConsoleServer, readKey } from "./console-server.ts";

export function testLosses(browser: () => ConsoleBrowser): void {
  test("a loss is an alarm that leads to its confirmation, which takes no more than was read", async () => {
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

  test("a key that may not confirm a loss is told who may, at both widths in both modes", async () => {
    const lostCommits = new LostCommits(() => 1);
    await using server = await openConsoleServer({ hasKeys: true, lostCommits });
    const found: string[] = [];
    for (const viewport of [wide, narrow]) {
      for (const theme of ["dark", "light"] as const) {
        for (const key of [adminKey, readKey]) {
          const address = `${server.consoleUrl}/shards`;
          await using visitor = await browser().visit(address, { viewport, theme });
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
          found.push(...(await axeFaults(page)), ...errors);
          if (await isWiderThanWindow(page)) found.push(`it is wider than ${viewport.width}`);
        }
      }
    }
    expect(found).toEqual([]);
    const response = await fetch(`${server.url}/v1/losses.confirm`, {
      method: "POST",
      headers: { authorization: `Bearer ${readKey}`, "content-type": "application/json" },
      body: "{}",
    });
    expect(response.status).toBe(403);
    expect(lostCommits.unconfirmed).toBe(1);
  });
}
