import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { ServerOverviewReply } from "../../openapi/schemas.ts";
import { hasFullMatrices } from "../../testing/matrices.ts";
import { axeFaultsInBothModes } from "../testing/axe.ts";
import {
  type ConsoleBrowser,
  isWiderThanWindow,
  live,
  middle,
  narrow,
  wide,
} from "../testing/console-browser.ts";
import { addQueues, type ConsoleServer, openConsoleServer } from "../testing/console-server.ts";
import { inChromium } from "../testing/in-chromium.ts";
import { addGroups, addTraffic } from "../testing/item-traffic.ts";
import { settled, shiftsOn } from "../testing/shifts.ts";
import { twinsOn } from "../testing/twins.ts";

const pages = [
  "",
  "/queue?name=orders",
  "/items?name=orders",
  "/items?name=tenants",
  "/groups?name=tenants",
  "/dead",
  "/dead?name=orders-dead",
  "/shards",
  "/keys",
];
const triesMax = 3;

interface Noted {
  wasLost?: boolean;
}

/** In the page: whether it has said since it was loaded that nobody answers, as of a machine that stood still. */
function noteLost(): void {
  new MutationObserver(() => {
    if (document.querySelector(".console[data-state=disconnected]") === null) return;
    (globalThis as Noted).wasLost = true;
  }).observe(document, { attributeFilter: ["data-state"], childList: true, subtree: true });
}

/** What moves whenever the page is loaded and answered in time. Once it may be a figure that grew. */
async function shiftsWhileLoading(page: Page): Promise<readonly string[]> {
  for (let tries = 0; ; ) {
    await live(page);
    await settled(page);
    const shifts = await shiftsOn(page);
    if (!(await page.evaluate(() => (globalThis as Noted).wasLost))) tries += 1;
    if (shifts.length === 0 || tries === triesMax) return shifts;
    await page.reload();
  }
}

function testLooks(browser: () => ConsoleBrowser): void {
  describe("each page", () => {
    let server: ConsoleServer;
    beforeAll(async () => {
      server = await openConsoleServer();
      await addTraffic(server);
      await addGroups(server, 20);
      await addQueues(server, ["a-name-that-takes-more-than-its-place-".repeat(6)]);
    });
    afterAll(() => server.stop());

    test.each(pages)(
      "pages, %j: nothing moves or overflows, each focus is visible, axe finds nothing in both modes",
      async (path) => {
        const found: string[] = [];
        for (const viewport of [wide, middle, narrow]) {
          const url = server.consoleUrl + path;
          await using visitor = await browser().visit(url, { viewport, begin: noteLost });
          const { page, errors } = visitor;
          const faults = (await shiftsWhileLoading(page)).map((shift) => `moved: ${shift}`);
          const moving = await page.evaluate(whatMoves);
          if (moving > 0) faults.push(`${moving} boxes move with prefers-reduced-motion`);
          if (viewport !== middle || hasFullMatrices) {
            faults.push(...(await axeFaultsInBothModes(page)));
          }
          faults.push(...(await twinsOn(page)), ...(await overflows(page, viewport)));
          if (viewport === wide) faults.push(...(await faultsInForcedColors(page)));
          if (viewport === narrow) faults.push(...(await page.evaluate(tooLow)));
          found.push(...[...faults, ...errors].map((fault) => `${viewport.width}: ${fault}`));
        }
        expect(found).toEqual([]);
      },
    );

    test("forced colours: selection, current page and focus are distinguishable", async () => {
      await using visitor = await browser().visit(server.consoleUrl, { forcedColors: "active" });
      const { page } = visitor;
      await live(page);
      const looksOf = (selector: string) =>
        page
          .locator(selector)
          .first()
          .evaluate((element) => {
            const { backgroundColor, borderBottom, outlineStyle } = getComputedStyle(element);
            return [backgroundColor, borderBottom, outlineStyle];
          });
      const pairs = [
        [".seg [aria-pressed=true]", ".seg [aria-pressed=false]"],
        [".nav [aria-current]", ".nav a:not([aria-current])"],
      ] as const;
      for (const [chosen, other] of pairs) {
        expect(await looksOf(chosen)).not.toEqual(await looksOf(other));
      }
      await page.keyboard.press("/");
      await page.locator(".filter input:focus").waitFor();
      expect((await looksOf(".filter input"))[2]).toBe("solid");
      await page.goto(`${server.consoleUrl}/items?name=orders`);
      await live(page);
      expect(await looksOf(".list .tabs [aria-current]")).not.toEqual(
        await looksOf(".list .tabs a:not([aria-current])"),
      );
      const unpressed = await looksOf(".toggles [aria-pressed=false]");
      await page.getByRole("button", { name: "Newest first" }).click();
      await page.locator(".toggles [aria-pressed=true]").waitFor();
      expect(await looksOf(".toggles [aria-pressed=true]")).not.toEqual(unpressed);
      await page.goto(`${server.consoleUrl}/queue?name=orders`);
      await live(page);
      await page.locator(".drawn .key").last().waitFor();
      const keys = await page
        .locator(".drawn:not(.flow) .key")
        .evaluateAll((found) => found.map((key) => getComputedStyle(key, "::before").borderTop));
      expect(keys).toHaveLength(3);
      expect(new Set(keys).size).toBe(3);
    });

    test("sign-in: nothing moves with prefers-reduced-motion, something without", async () => {
      await using locked = await openConsoleServer({ hasKeys: true });
      await using visitor = await browser().visit(locked.consoleUrl);
      const { page } = visitor;
      await page.locator(".grip").waitFor();
      expect(await page.evaluate(whatMoves)).toBe(0);
      await page.emulateMedia({ reducedMotion: "no-preference" });
      expect(await page.evaluate(whatMoves)).toBeGreaterThan(0);
    });

    test("dialogs: axe finds nothing in both modes", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page } = visitor;
      await live(page);
      const found: string[] = [];
      const opens = [
        () => page.keyboard.press("Control+k"),
        () => page.keyboard.press("Shift+?"),
        () => page.getByRole("button", { name: "Create queue" }).click(),
      ];
      for (const open of opens) {
        await open();
        await page.locator("dialog[open]").waitFor();
        found.push(...(await axeFaultsInBothModes(page)));
        await page.keyboard.press("Escape");
        await page.locator("dialog").waitFor({ state: "detached" });
      }
      expect(found).toEqual([]);
    });

    test("dialogs: Cancel restores the focus", async () => {
      await using visitor = await browser().visit(server.consoleUrl);
      const { page } = visitor;
      await live(page);
      const opener = page.getByRole("button", { name: "Create queue" });
      await opener.click();
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.locator("dialog").waitFor({ state: "detached" });
      expect(await opener.evaluate((one) => one === document.activeElement)).toBe(true);
    });

    test("overview: nothing moves while the page loads, however many alarms there are", async () => {
      await using visitor = await browser().visit("about:blank");
      const { page } = visitor;
      await page.route("**/v1/server.overview", async (route) => {
        const response = await route.fetch();
        const reply = (await response.json()) as ServerOverviewReply;
        // Those of one cause would share a row.
        const more = reply.alarms.flatMap((alarm) =>
          ["leases_lapsing", "backlog_growing"].map((kind) => ({ ...alarm, kind })),
        );
        await route.fulfill({ response, json: { ...reply, alarms: [...reply.alarms, ...more] } });
      });
      await page.goto(server.consoleUrl);
      await page.locator(".alarm").nth(2).waitFor();
      await settled(page);
      expect(await shiftsOn(page)).toEqual([]);
    });
  });
}

/** Also checks the smallest width, and text of twice the size. */
async function overflows(page: Page, viewport: typeof wide): Promise<readonly string[]> {
  const found: string[] = [];
  const look = async (what: string) => {
    if (await isWiderThanWindow(page)) found.push(`wider than the window ${what}`);
  };
  await look("as it is");
  if (viewport === narrow) {
    await page.setViewportSize({ ...viewport, width: 320 });
    await look("at 320");
    await page.setViewportSize(viewport);
  }
  if (viewport === wide) {
    await setFontSize(page, 32);
    await look("with large text");
    await setFontSize(page, 16);
  }
  return found;
}

/** Sets the font size that the browser's settings contain. */
async function setFontSize(page: Page, px: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setFontSizes", { fontSizes: { standard: px } });
  await session.detach();
  const size = () => getComputedStyle(document.documentElement).fontSize;
  expect(await page.evaluate(size)).toBe(`${px}px`);
}

const tabsMax = 80;

/** Choices that look like the others, and elements whose focus is not visible. */
async function faultsInForcedColors(page: Page): Promise<readonly string[]> {
  await page.emulateMedia({ forcedColors: "active" });
  const alike = await page.evaluate(choicesThatLookAlike);
  const found = alike.map((choice) => `looks like the others: ${choice}`);
  for (let tab = 0; tab < tabsMax; tab += 1) {
    await page.keyboard.press("Tab");
    const fault = await page.evaluate(faultOfFocus);
    if (fault === null) break;
    if (fault !== "") found.push(`has the focus: ${fault}`);
  }
  return found;
}

/** How many boxes move, or would when they change. */
function whatMoves(): number {
  const stylesOf = (element: Element) =>
    [undefined, "::before", "::after"].map((part) => getComputedStyle(element, part));
  const moves = ({ transitionDuration, animationName, scrollBehavior }: CSSStyleDeclaration) =>
    /[1-9]/.test(transitionDuration) || animationName !== "none" || scrollBehavior === "smooth";
  const all = [...document.querySelectorAll("*")].flatMap(stylesOf);
  return all.filter(moves).length + document.getAnimations().length;
}

/** What has the focus and does not look it; `""` = it does, `null` = nothing has it. */
function faultOfFocus(): string | null {
  const focused = document.activeElement;
  if (focused === null || focused === document.body) return null;
  // The field of a filter has its outline around the conditions that stand in it.
  const outlined = focused.closest(".chips") ?? focused;
  const { outlineStyle, outlineWidth } = getComputedStyle(outlined);
  const isSeen = outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0;
  return isSeen ? "" : focused.outerHTML.slice(0, 100);
}

/** What is chosen beside what is not, where both look the same. */
function choicesThatLookAlike(): string[] {
  const lookOf = (element: Element) =>
    [undefined, "::before", "::after"].flatMap((part) => {
      const style = getComputedStyle(element, part);
      return [style.backgroundColor, style.borderTop, style.borderBottom, style.color];
    });
  const othersOf = (chosen: Element, name: string) =>
    [...(chosen.parentElement?.children ?? [])].filter(({ tagName, attributes }) => {
      const value = attributes.getNamedItem(name)?.value;
      // Of several links one is where the reader is, and the others do not say that they are not.
      return name === "aria-current"
        ? value === undefined && tagName === chosen.tagName
        : value === "false";
    });
  return ["aria-pressed", "aria-selected", "aria-current"].flatMap((name) =>
    [...document.querySelectorAll(`[${name}]:not([${name}="false"])`)]
      .filter((chosen) =>
        othersOf(chosen, name).some((other) => lookOf(other).join() === lookOf(chosen).join()),
      )
      .map(({ outerHTML }) => outerHTML.slice(0, 100)),
  );
}

/** Not links in text or in rows, nor headings of a table, which a phone does not show. */
function tooLow(): string[] {
  const pressable = "button:not(thead *), .b, .tabs a, select, input:not([type=checkbox])";
  return [...document.querySelectorAll(pressable)]
    .map((element) => ({ element, box: element.getBoundingClientRect() }))
    .filter(({ box }) => box.height > 0 && box.width > 1 && box.height < 44)
    .map(({ element, box }) => `${box.height} px high: ${element.outerHTML.slice(0, 90)}`);
}

inChromium([testLooks]);
