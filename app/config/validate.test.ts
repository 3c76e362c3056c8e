import { expect, test } from "bun:test";
import type { DocData } from "../content-types.ts";
import { siteConfig } from "../site-config.ts";
import type { DropdownEntry, NavbarItem, Sidebar, SiteConfig } from "./types.ts";
import { assertLinkable, defineSite, sidebarDocs, sidebarGroups } from "./validate.ts";

function withItems(...items: readonly NavbarItem[]): SiteConfig {
  return { ...siteConfig, navbar: { ...siteConfig.navbar, items } };
}

function doc(slug: string, version = "current"): DocData {
  return { slug, version, title: slug, label: slug, description: "", position: 1 };
}

test("navbar: a type that is none is refused, with the item's configuration", () => {
  const config = withItems({ type: "carousel", label: "More" } as unknown as NavbarItem);
  expect(() => defineSite(config)).toThrow(
    'unknown navbar item type; expected default, dropdown, localeDropdown, search, html, doc, docSidebar, docsVersion, docsVersionDropdown, got \'carousel\' in {"type":"carousel","label":"More"}',
  );
});

test("navbar: a type within a dropdown is checked too", () => {
  const inner = { type: "tabs" } as unknown as DropdownEntry;
  const config = withItems({ type: "dropdown", label: "More", items: [inner] });
  expect(() => defineSite(config)).toThrow("unknown navbar item type");
});

test("navbar: a dropdown does not take what its list could not show", () => {
  const inner = { type: "search" } as unknown as DropdownEntry;
  const config = withItems({ type: "dropdown", label: "More", items: [inner] });
  expect(() => defineSite(config)).toThrow(
    'navbar item does not fit into a dropdown; expected default, html, doc, docSidebar, docsVersion, got \'search\' in {"type":"search"}',
  );
});

test.each([
  [{ baseUrl: "/queue/" }, "baseUrl is invalid; expected '/', got '/queue/'"],
  [
    { url: "https://holdfast.example/" },
    "url is invalid; expected an origin without a slash at its end, got 'https://holdfast.example/'",
  ],
  [
    { repository: "holdfast" },
    "repository is invalid; expected an address without a slash at its end, got 'holdfast'",
  ],
])("address: %j is refused", (change, text) => {
  expect(() => defineSite({ ...siteConfig, ...change })).toThrow(text);
});

test.each<NavbarItem>([
  { type: "docsVersion", version: "9.9" },
  { type: "docsVersionDropdown", versions: ["current", "9.9"] },
])("docs version: %j names one that does not exist", (item) => {
  expect(() => defineSite(withItems(item))).toThrow(
    "docs version does not exist; expected one of current, got '9.9'",
  );
});

test("docs sidebar: an id that is none is refused", () => {
  expect(() => defineSite(withItems({ type: "docSidebar", sidebarId: "api" }))).toThrow(
    "docs sidebar does not exist; expected one of docs, got 'api'",
  );
});

test("docs sidebar: one without a link is refused once the content is known", () => {
  const config = withItems({ type: "docSidebar", sidebarId: "docs" });
  const empty = { ...config, docs: { ...config.docs, sidebars: { docs: [] } } };
  expect(() => assertLinkable(empty, [doc("intro")])).toThrow(
    "docs sidebar has no link; expected at least one doc in 'docs'",
  );
});

test("docs: a version without its main doc is refused", () => {
  expect(() => assertLinkable(siteConfig, [doc("faq")])).toThrow("doc does not exist; got 'intro'");
});

test("docs sidebar: has the docs of its version under its headings, in its own order", () => {
  const docs = [doc("faq"), doc("intro"), doc("intro", "1.0")];
  const sidebar: Sidebar = [
    { label: "Start", docs: ["intro"] },
    { label: "More", docs: ["faq"] },
  ];
  const config = { ...siteConfig, docs: { ...siteConfig.docs, sidebars: { docs: sidebar } } };
  const at = { sidebarId: "docs", version: "current" };
  expect(sidebarGroups(config, docs, at)).toEqual([
    { label: "Start", docs: [doc("intro")] },
    { label: "More", docs: [doc("faq")] },
  ]);
  expect(sidebarDocs(config, docs, at).map(({ slug }) => slug)).toEqual(["intro", "faq"]);
  const all = { ...siteConfig, docs: { ...siteConfig.docs, sidebars: { docs: "all" as const } } };
  expect(sidebarGroups(all, docs, at)).toEqual([{ label: "", docs: [doc("faq"), doc("intro")] }]);
});
