// Tests the pure functions of the shell.

import { describe, expect, test } from "bun:test";
import { nextChoice } from "../behaviours/color-mode.ts";
import { mayPrefetch } from "../behaviours/links.ts";
import { isShownAfter } from "../behaviours/navbar.ts";
import { siteConfig } from "../site-config.ts";
import { headScriptOf } from "./head-script.ts";
import { localePath } from "./locale.ts";

describe("colour mode", () => {
  test("with the system respected: system, light, dark, system", () => {
    expect(nextChoice("system", true)).toBe("light");
    expect(nextChoice("light", true)).toBe("dark");
    expect(nextChoice("dark", true)).toBe("system");
  });

  test("otherwise light and dark swap", () => {
    expect(nextChoice("light", false)).toBe("dark");
    expect(nextChoice("dark", false)).toBe("light");
  });
});

test.each([
  [undefined, true],
  [{}, true],
  [{ effectiveType: "4g" }, true],
  [{ effectiveType: "3g", saveData: false }, true],
  [{ effectiveType: "2g" }, false],
  [{ effectiveType: "slow-2g" }, false],
  [{ effectiveType: "4g", saveData: true }, false],
])("prefetch: a connection of %j allows it: %p", (connection, allowed) => {
  expect(mayPrefetch(connection)).toBe(allowed);
});

test.each([
  { name: "down past its height", top: 300, topBefore: 200, wasShown: true, isShown: false },
  { name: "further down", top: 400, topBefore: 300, wasShown: false, isShown: false },
  { name: "up", top: 350, topBefore: 400, wasShown: false, isShown: true },
  { name: "down within its height", top: 50, topBefore: 10, wasShown: true, isShown: true },
  { name: "back near the top", top: 59, topBefore: 59, wasShown: false, isShown: true },
  { name: "not at all, hidden", top: 300, topBefore: 300, wasShown: false, isShown: false },
  { name: "not at all, shown", top: 300, topBefore: 300, wasShown: true, isShown: true },
])("navigation bar: a scroll $name", ({ top, topBefore, wasShown, isShown }) => {
  expect(isShownAfter({ top, topBefore, wasShown, navbarHeight: 60 })).toBe(isShown);
});

test("announcement: one that can no longer be closed is shown to readers who had closed it", () => {
  const announcementBar = { id: "old-news", content: "", isCloseable: true };
  expect(headScriptOf({ ...siteConfig, announcementBar })).toContain("old-news");
  const fixed = { ...announcementBar, isCloseable: false };
  expect(headScriptOf({ ...siteConfig, announcementBar: fixed })).not.toContain("old-news");
});

describe("locales", () => {
  const standard = "en";

  test("the default locale has no prefix", () => {
    const same = { current: "en", target: "en", standard };
    expect(localePath("/docs/intro", same)).toBe("/docs/intro");
  });

  test("another locale gets its prefix, and loses it on the way back", () => {
    const there = { current: "en", target: "de", standard };
    expect(localePath("/docs/intro", there)).toBe("/de/docs/intro");
    const back = { current: "de", target: "en", standard };
    expect(localePath("/de/docs/intro", back)).toBe("/docs/intro");
    expect(localePath("/de", back)).toBe("/");
  });
});
